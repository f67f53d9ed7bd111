/* kavach.h: the C ABI of the Kavach runtime.
 *
 * The Zig source is the truth; a test checks this header, the ctypes bindings (compiler/kavachc/bindings) and the
 * compiler's declarations (compiler/kavachc/ir/runtime_calls.py) against it.
 *
 * Conventions
 *   - Every value has the layout of the C type that a 64-bit Linux ABI would give it: Int, Duration, Instant are
 *     int64_t (nanoseconds for the last two), Float is double, Bool is uint8_t 0 or 1, Nothing is uint8_t 0.
 *   - Strings, arrays, errors, tasks, agents and capability values are pointers to a counted block. A block starts
 *     with `int64_t count`: 0 marks a static block that is never counted or freed, otherwise the number of owners.
 *     Generated code counts inline and calls the runtime only to free (count 1 -> gone) or to copy.
 *   - `consumes` after a parameter: the call takes over the caller's ownership. Otherwise the argument is borrowed.
 *     A returned block is owned by the caller, unless it says `borrowed`.
 *   - Text is (pointer, byte length), UTF-8, not NUL-terminated.
 *   - One thread runs Kavach code and calls these entries; nothing here is thread-safe unless it says so.
 */
#ifndef KAVACH_H
#define KAVACH_H
#include <stdint.h>
#include <stdbool.h>

typedef struct kv_text_view { const uint8_t *bytes; int64_t length; } kv_text_view;

/* ---- Values ------------------------------------------------------------------------------------------------ */
typedef struct kv_string { int64_t count; int64_t length; uint8_t bytes[]; } kv_string;
typedef struct kv_array { int64_t count; int64_t length; int64_t capacity; uint8_t elements[]; /* at offset 24 */ } kv_array;
typedef struct kv_box { int64_t count; uint8_t value[]; /* at offset 8 */ } kv_box;
/* `capacity` entries follow at offset 32, in the order in which keys came, and a table that finds them (src/map.zig).
 * `length` is the number of keys, `used` that of entries, those whose key was taken away included. */
typedef struct kv_map { int64_t count; int64_t length; int64_t used; int64_t capacity; } kv_map;
typedef struct kv_error { int64_t count; const struct kv_type *type; uint8_t payload[]; /* at offset 16 */ } kv_error;
typedef struct kv_vtable { const struct kv_type *payload_type; const void *methods[]; } kv_vtable;
typedef struct kv_capability { int64_t count; const kv_vtable *vtable; uint8_t payload[]; /* at offset 16 */ } kv_capability;
/* A function value is a kv_capability whose vtable has one method, the code: its first parameter is the value itself, and
 * the payload is what the function captured. One that captured nothing is static. */
typedef struct kv_agent_handle { int64_t count; int64_t capability_count; kv_capability *capabilities[]; } kv_agent_handle;
typedef struct kv_task kv_task;
typedef void *kv_coroutine; /* opaque: native: an LLVM coroutine frame; from Python: a number */

/* ---- Type descriptors: one static table per type, from which the runtime shows, compares, copies, frees, encodes and
 *      decodes values. A record is a C struct of its fields in order. A sum is a C struct whose first member is an
 *      int32_t tag (the variant's index), followed by slots that the variants share; each variant's fields have their
 *      own offsets, given here. An optional is an int32_t tag (0 none, 1 a value) and the value; a tuple is a struct of
 *      its elements; a field through which a type holds itself is a pointer to a kv_box. ---- */
typedef enum kv_kind {
  KV_INT = 0, KV_FLOAT = 1, KV_BOOL = 2, KV_NOTHING = 3, KV_STRING = 4, KV_DURATION = 5, KV_INSTANT = 6, KV_ARRAY = 7,
  KV_RECORD = 8, KV_SUM = 9, KV_TASK = 10, KV_AGENT = 11, KV_CAPABILITY = 12, KV_ERROR = 13,
  KV_OPTIONAL = 14, KV_TUPLE = 15, KV_BOX = 16, KV_MAP = 17, KV_FUNCTION = 18
} kv_kind;
/* `holds` says, not zero, whether the field's rule holds for a value of its type (of a box: of what it stands for); NULL
 * where the field has no rule. */
typedef struct kv_field {
  kv_text_view name; const struct kv_type *type; int64_t offset;
  kv_text_view rule; int64_t (*holds)(const void *value);
} kv_field;
typedef struct kv_variant { kv_text_view name; const kv_field *fields; int64_t field_count; } kv_variant;
typedef struct kv_type {
  int32_t kind;                     /* kv_kind */
  int32_t counted;                  /* 1 when a value holds, or is, a pointer to a counted block */
  int64_t size; int64_t alignment;
  kv_text_view name;                /* records and sums: the declared name */
  const struct kv_type *element;    /* arrays, optionals, boxes: the element; tasks: the result */
  const kv_field *fields; int64_t field_count;        /* records; tuples, without names */
  const kv_variant *variants; int64_t variant_count;  /* sums */
  const struct kv_type *key;        /* maps; their element is the value */
} kv_type;

/* ---- Memory ---- */
void *kv_allocate(int64_t size);                 /* a block with count 1; never NULL: out of memory is a panic */
void kv_free(void *block);                       /* a block without anything counted in it */
void kv_retain_value(const kv_type *type, const void *value);   /* counts up everything that the value at the address owns */
void kv_release_value(const kv_type *type, void *value);        /* counts down; frees iteratively, never recursing */
int64_t kv_live_blocks(void);
/* Coroutine frames come from the same allocator but are not blocks (they have no count, and are not live blocks). */
void *kv_frame_allocate(int64_t size);
void kv_frame_free(void *frame);

/* ---- Strings and text ---- */
typedef struct kv_text { uint8_t *bytes; int64_t length; int64_t capacity; } kv_text; /* a string being made, on the caller's stack */
void kv_text_begin(kv_text *text);
void kv_text_literal(kv_text *text, const uint8_t *bytes, int64_t length);
void kv_text_string(kv_text *text, const kv_string *string);
void kv_text_int(kv_text *text, int64_t value);
void kv_text_float(kv_text *text, double value);
void kv_text_bool(kv_text *text, bool value);
void kv_text_duration(kv_text *text, int64_t value_ns);
void kv_text_instant(kv_text *text, int64_t value_ns);
void kv_text_value(kv_text *text, const kv_type *type, const void *value); /* as "{value}" shows it: a string at the top is bare */
kv_string *kv_text_shown(const kv_type *type, const void *value); /* as inside another value, cut after 200 characters */
kv_string *kv_text_finish(kv_text *text);
kv_string *kv_string_new(const uint8_t *bytes, int64_t length);
kv_string *kv_string_concat(const kv_string *left, const kv_string *right);
bool kv_string_equal(const kv_string *left, const kv_string *right);
int32_t kv_string_compare(const kv_string *left, const kv_string *right); /* -1, 0, 1, by code point */
bool kv_equal(const kv_type *type, const void *left, const void *right);  /* structural; Floats as IEEE says */

/* ---- Arrays. `slot` is the address of the variable (or field, element) that holds the array. ---- */
kv_array *kv_array_new(const kv_type *element, int64_t capacity);
void kv_array_unique(kv_array **slot, const kv_type *element);   /* afterwards the array in the slot has count 1 */
void kv_array_grow(kv_array **slot, const kv_type *element);     /* the same, with room for one more element */

kv_array *kv_array_rest(const kv_array *array, const kv_type *element, int64_t start); /* a new one, from `start` <= length on */

/* ---- Maps. `type` is the map's own. ---- */
kv_map *kv_map_new(const kv_type *type, int64_t capacity);
void *kv_map_find(const kv_type *type, const kv_map *map, const void *key); /* borrowed: where the value is; NULL: no such key */
void kv_map_unique(kv_map **slot, const kv_type *type);          /* afterwards the map in the slot has count 1 */
void kv_map_set(kv_map **slot, const kv_type *type, void *key /* consumes */, void *value /* consumes */);
void kv_map_remove(kv_map **slot, const kv_type *type, const void *key);
typedef enum kv_map_part { KV_KEYS = 0, KV_VALUES = 1, KV_ENTRIES = 2 } kv_map_part;
kv_array *kv_map_list(const kv_type *type, const kv_map *map, const kv_type *element, int32_t part); /* entries: pairs */

/* ---- The library: kv_lib_… entries, declared by the rows of compiler/kavachc/ir/library.py. Each takes its operands, borrowed
 *      (what is no word, and an array that it changes, by address), the kv_type of its type variable if it has one, the address
 *      for its result if that is no word, and the site of its panic and who called the function there if it panics. ---- */

/* ---- Errors and panics. Every generated function is given its kv_caller, which stands in the caller's frame; that of
 *      `main` has no site, that of a task's first function no parent. A panic shows them all. ---- */
typedef struct kv_traced_function { kv_text_view name; kv_text_view file; } kv_traced_function;
typedef struct kv_site { const kv_traced_function *function; uint32_t line; uint32_t column; } kv_site;
typedef struct kv_caller { const struct kv_caller *parent; const kv_site *site; } kv_caller;
/* Where the program is: set before every call that may need memory, for `out of memory`. Null where nobody knows. */
extern const kv_caller *kv_here;
/* Below it, a recursive call is a stack overflow. */
extern uintptr_t kv_stack_limit;
kv_error *kv_error_new(const kv_type *type, const void *payload /* consumes */);
_Noreturn void kv_panic(const uint8_t *message, int64_t message_length, const kv_site *site, const kv_caller *caller);
_Noreturn void kv_panic_index(int64_t index, int64_t length, const kv_site *site, const kv_caller *caller);
_Noreturn void kv_panic_key(const kv_type *type, const void *key, const kv_site *site, const kv_caller *caller);
_Noreturn void kv_panic_shift(int64_t amount, const kv_site *site, const kv_caller *caller);

/* ---- Capabilities ---- */
kv_capability *kv_capability_limit(const kv_vtable *vtable, kv_capability *held /* consumes */); /* under an agent's limits */

/* ---- Output ---- */
void kv_print(const kv_string *line);            /* the text and a line break, on stdout */

/* ---- Tasks. A coroutine that may wait is started suspended, and is given the address `out` for its outcome and the
 *      coroutine `parent` that called it (NULL for a task's first). Calls:  kv_call(child) then suspend; the scheduler
 *      resumes the child. Returns: the outcome is written to `out`, then kv_return(parent), then the frame is freed.
 *      Waits: a kv_..._wait entry is given the coroutine that waits; when it answers false, the coroutine suspends and is
 *      resumed when the wait is over. After every resumption (the first too, and after a wait that answered true: not
 *      needed) generated code asks kv_cancelled() and, when true, releases what it holds and returns with status 2. ---- */
typedef enum kv_status { KV_OK = 0, KV_FAILED = 1, KV_CANCELLED = 2 } kv_status;
typedef struct kv_outcome { int64_t status; kv_error *error; uint8_t value[]; /* at offset 16 */ } kv_outcome; /* of a task */
kv_task *kv_task_new(const kv_type *result);     /* count 1 for the caller, and one more that the scheduler holds until it ends */
kv_outcome *kv_task_outcome(kv_task *task);      /* borrowed: where its first coroutine writes, and its waiters read */
void kv_task_start(kv_task *task, kv_coroutine first);  /* to the end of the queue of ready tasks */
void kv_task_free(kv_task *task);                /* count 1 -> gone; a task is never freed before it ended */
bool kv_task_wait(kv_task *task, kv_coroutine self);    /* true: it has ended already. Marks its error as seen. */
bool kv_task_wait_for(kv_task *task, int64_t limit_ns, kv_coroutine self);  /* as kv_task_wait, but no longer; then ask: */
bool kv_task_ended(kv_task *task);                      /* true marks its error as seen */
void kv_task_cancel(kv_task *task);
void kv_call(kv_coroutine child);
void kv_return(kv_coroutine parent);
bool kv_cancelled(void);
bool kv_sleep(int64_t duration_ns, kv_coroutine self);  /* always false: it yields even for 0 or less */
int64_t kv_now(void);                            /* UTC, nanoseconds since 1970 */

/* ---- Agents: static tables of the program ---- */
typedef enum kv_rule_kind { KV_RULE_CONDITION = 0, KV_RULE_SUM_INT = 1, KV_RULE_SUM_FLOAT = 2, KV_RULE_COUNT = 3, KV_RULE_TOKENS = 4 } kv_rule_kind;
typedef struct kv_rule {
  int32_t kind; int32_t strict;                  /* strict: `<` instead of `<=` */
  kv_text_view text;                             /* the rule's source with single spaces */
  int64_t window_ns; int64_t bound_int; double bound_float;
  int64_t keyed;                                 /* 1: a window for each value of its key */
} kv_rule;
typedef struct kv_limit { kv_text_view target; /* `Payments.refund`, `Ai` */ const kv_rule *rules; int64_t rule_count; } kv_limit;
typedef enum kv_under_way { KV_AVERAGE = 0, KV_LARGEST = 1, KV_NOT_COUNTED = 2 } kv_under_way;
typedef enum kv_mode { KV_ENFORCE = 0, KV_OBSERVE = 1 } kv_mode;
typedef enum kv_provider { KV_ANTHROPIC = 0, KV_OPENAI = 1 } kv_provider;
typedef struct kv_model {
  kv_text_view name;
  kv_text_view base_url;                         /* bytes NULL for none */
  int64_t max_tokens;
  int64_t context_budget;                        /* tokens; 0 for none */
  int64_t timeout_ns;
  int32_t provider; int32_t reserved;
} kv_model;
typedef struct kv_agent {
  kv_text_view name; kv_model model;
  int32_t asks_under_way; int32_t mode; int32_t ai_limit; /* index into limits, or -1 */ int32_t reserved;
  const kv_limit *limits; int64_t limit_count;
} kv_agent;

/* ---- The ledger. Rules are visited in the order written, one kv_limit_ entry each; the first that answers false is the
 *      reason; nothing yields between begin and commit or refuse. In Observe mode a broken rule is reported and answers true. ---- */
void kv_audit_call(int64_t agent, const kv_string *target); /* a call that the agent makes, and that no limit applies to */
void kv_limit_begin(int64_t agent, int64_t limit);
void kv_limit_key(int64_t rule, const kv_string *key);  /* before the check of a keyed rule */
bool kv_limit_condition(int64_t rule, bool holds);
bool kv_limit_sum_int(int64_t rule, int64_t amount);
bool kv_limit_sum_float(int64_t rule, double amount);
bool kv_limit_count(int64_t rule);
kv_string *kv_limit_refuse(int64_t rule);        /* nothing is recorded; the reason, `limit broken: …` */
/* kv_limit_commit, below: every rule let it pass: record them all. With a state file it is a wait, until that is durable. */

/* ---- ask. `agent` is the index of the agent whose handler this runs for, or -1. ---- */
typedef enum kv_schema_way { KV_FREE_TEXT = 0, KV_STRUCTURED = 1, KV_WRAPPED = 2, KV_IN_PROMPT = 3 } kv_schema_way;
typedef struct kv_schema { int32_t way; kv_text_view text; kv_text_view sample; kv_text_view problem; } kv_schema;
/* The JSON schema of what is asked for, and how it goes to the model. KV_FREE_TEXT: there is none, the answer is the text.
 * KV_STRUCTURED: as structured output. KV_WRAPPED: so too, and the answer is the one field `answer` of the object that it
 * describes; the model's text is unwrapped where it is just such an object. KV_IN_PROMPT: at the end of the prompt.
 * A dry run answers `sample`; where no value is known its bytes are NULL, and the ask fails with `problem`. */
typedef enum kv_answer_kind { KV_ANSWERED = 0, KV_NO_KEY = 1, KV_FAILED_ASK = 2, KV_INVALID_OUTPUT = 3, KV_DENIED = 4 } kv_answer_kind;
typedef struct kv_answer { int64_t kind; int64_t status; kv_string *text; int64_t retry_after; } kv_answer;
/* text: the answer's JSON, already found to fit `type` | the variable | the message | the last answer | the reason.
 * retry_after, where it failed: 1 more than the nanoseconds that the provider asked to be left alone for; else 0 */
bool kv_limit_commit(kv_answer *out, kv_coroutine self); /* KV_ANSWERED with an empty text: recorded; KV_DENIED: the reason */
bool kv_ask(int64_t agent, const kv_type *type, const kv_schema *schema, const kv_string *prompt, kv_answer *out, kv_coroutine self);
/* How the text fits the type as JSON: kind 0, it does; 1, it is no JSON; 2, it does not fit; the text says what is wrong. */
void kv_json_check(const kv_type *type, const kv_string *text, kv_answer *out);
void kv_decode(const kv_type *type, const kv_string *json, void *out); /* JSON that is known to fit; the value is owned */

/* ---- The host: everything the runtime needs from outside ---- */
typedef enum kv_file_operation { KV_READ = 0, KV_WRITE = 1, KV_APPEND = 2, KV_EXISTS = 3, KV_REMOVE = 4 } kv_file_operation;
typedef enum kv_file_status { KV_FILE_OK = 0, KV_FILE_NOT_FOUND = 1, KV_FILE_NOT_ALLOWED = 2, KV_FILE_NOT_TEXT = 3, KV_FILE_OTHER = 4 } kv_file_status;

/* One HTTP request. The runtime makes it, and keeps it, with what is sent, until the host has reported its end. */
typedef struct kv_header { kv_text_view name; kv_text_view value; } kv_header;
typedef struct kv_exchange {
  kv_text_view method;
  kv_text_view url;                              /* http or https, host, port if it is not the usual one, path */
  const kv_header *headers;
  int64_t header_count;
  kv_text_view body;
  int64_t connect_limit_ns;                      /* for the name, the connection and TLS together */
  int64_t limit_ns;                              /* for all of it */
  int64_t body_bytes_max;                        /* of the answer, decoded; kv_exchange_body keeps to it */
  void *host;                                    /* the host's own, NULL at first */
} kv_exchange;
typedef enum kv_exchange_problem {
  KV_NO_PROBLEM = 0, KV_DROPPED = 1, KV_UNKNOWN_HOST = 2, KV_REFUSED = 3, KV_UNREACHABLE = 4,
  KV_UNTRUSTED = 5, /* certificate */ KV_WRONG_NAME = 6, /* certificate */ KV_TLS = 7, KV_TIMED_OUT = 8, /* connecting */
  KV_LATE = 9, KV_TOO_LARGE = 10, KV_MALFORMED = 11, KV_ABORTED = 12,
  KV_NO_AUTHORITIES = 13, /* as KV_UNTRUSTED, and SSL_CERT_FILE names no file with certificates */
  KV_NO_FILES = 14, /* out of file descriptors */ KV_NO_THREADS = 15
} kv_exchange_problem;
/* What the host reports, from any thread: headers, the body in pieces (gzip and chunks are undone), then the end, once. */
void kv_exchange_header(kv_exchange *exchange, const uint8_t *name, int64_t name_length, const uint8_t *value, int64_t value_length);
bool kv_exchange_body(kv_exchange *exchange, const uint8_t *bytes, int64_t length); /* false: read no more of it, but report its end */
void kv_exchange_end(kv_exchange *exchange, int32_t status, int32_t problem); /* the exchange is gone; status 0: there was none */

typedef struct kv_host {
  void *context;
  bool (*write)(void *context, int32_t descriptor, const uint8_t *bytes, int64_t length); /* all of it; false: it failed */
  bool (*is_terminal)(void *context, int32_t descriptor); /* asked of stdout, once: each line is then written as it is printed */
  int64_t (*monotonic_ns)(void *context);        /* never jumps, counts suspended time (CLOCK_BOOTTIME) */
  int64_t (*utc_ns)(void *context);
  uint64_t (*random)(void *context);
  void (*sleep)(void *context, int64_t duration_ns);   /* nothing can run before that */
  /* The text found goes to `out`, and stays valid while the program runs; false: there is none, and `out` is as it was. */
  bool (*environment)(void *context, const uint8_t *name, int64_t length, kv_text_view *out);
  bool (*read_file)(void *context, const uint8_t *path, int64_t length, kv_text_view *out); /* for the test model */
  bool (*write_file)(void *context, const uint8_t *path, int64_t path_length, const uint8_t *bytes, int64_t length); /* for the report */
  void (*exit)(void *context, int32_t status);   /* does not return */
  /* operation: a kv_file_operation; `bytes` is what is written. A kv_file_status; `out` is what was read, or for KV_FILE_OTHER
   * the reason, valid until the next call. NULL: the native ones. */
  int32_t (*file)(void *context, int32_t operation, const uint8_t *path, int64_t path_length, const uint8_t *bytes, int64_t length, kv_text_view *out);
  /* HTTP, for programs that ask. All four, or NULL: a standalone binary's own. Redirects are not followed. */
  void (*send)(void *context, kv_exchange *exchange);  /* begins the request, and returns at once */
  void (*abort)(void *context, kv_exchange *exchange); /* nobody wants it any more; its end is still reported, soon */
  void (*wait)(void *context, int64_t duration_ns);    /* as sleep (negative: without end), but `wake` ends it, also one before it */
  void (*wake)(void *context);                         /* from any thread */
} kv_host;

typedef struct kv_options {
  int32_t dry_run; int32_t virtual_time;
  kv_text_view test_model;                       /* a path, bytes NULL for none */
  kv_text_view report;                           /* a path to write the report to at exit (live blocks, ledger), bytes NULL for none */
  kv_text_view state_file;                       /* the path of the state file (docs/state-file.md), bytes NULL for none */
  const kv_text_view *arguments;                 /* of the program; NULL: a standalone binary's own */
  int64_t argument_count;
  kv_text_view audit_log;                        /* the path of the audit log (docs/audit-log.md), bytes NULL for none */
  int32_t audit_prompts; int32_t reserved;       /* 1: it holds the prompts themselves */
} kv_options;

/* ---- The program: emitted by the compiler as `kv_program`; the standalone start code runs it ---- */
typedef struct kv_program {
  kv_coroutine (*main)(kv_outcome *out, kv_coroutine parent); /* creates main's first coroutine, suspended */
  void (*resume)(kv_coroutine coroutine);
  const kv_agent *agents; int64_t agent_count;
  void (*ledger_part)(int32_t moment);           /* kv_ledger_part, without limits kv_audit_part, or NULL: so that a program links only what it uses */
  void (*model_part)(int32_t moment);            /* kv_model_part or NULL. moment 0: the program starts, 1: it ended */
} kv_program;

int32_t kv_run(const kv_program *program, const kv_host *host, const kv_options *options); /* the exit status */
void kv_ledger_part(int32_t moment);
void kv_audit_part(int32_t moment);
void kv_model_part(int32_t moment);
/* `_start` of a standalone binary (only in that build): fills a native kv_host, reads KAVACH_DRY_RUN, KAVACH_TEST_MODEL,
 * KAVACH_VIRTUAL_TIME, KAVACH_REPORT, KAVACH_STATE_FILE, runs kv_program on a stack of 1 GiB reserved address space with a guard page. */
#endif
