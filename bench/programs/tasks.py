"""The same with asyncio: tasks that yield once, started at once and waited for in turn."""

import asyncio


async def add_one(n: int) -> int:
    await asyncio.sleep(0)
    return n + 1


async def main() -> None:
    tasks = [asyncio.create_task(add_one(i)) for i in range(200_000)]
    print(sum([await task for task in tasks]))


asyncio.run(main())
