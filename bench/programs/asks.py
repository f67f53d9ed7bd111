"""The same as asks.kav with the official Python SDK of Anthropic, under asyncio, with its default retries."""

import asyncio
import sys

from anthropic import AsyncAnthropic

SCHEMA = {
    "type": "object",
    "properties": {"ok": {"type": "boolean"}},
    "required": ["ok"],
    "additionalProperties": False,
}


async def ask_some(client: AsyncAnthropic, count: int) -> int:
    answered = 0
    for _ in range(count):
        try:
            await client.messages.create(
                model="claude-haiku-5-5",
                max_tokens=4096,
                messages=[{"role": "user", "content": "Is it?"}],
                output_config={"format": {"type": "json_schema", "schema": SCHEMA}},
            )
        except Exception:
            continue
        answered += 1
    return answered


async def main() -> None:
    count, tasks = int(sys.argv[1]), int(sys.argv[2])
    async with AsyncAnthropic() as client:
        answered = sum(await asyncio.gather(*(ask_some(client, count // tasks) for _ in range(tasks))))
    print(f"answered {answered}, failed {count - answered}")


asyncio.run(main())
