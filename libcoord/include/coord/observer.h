/* SPDX-FileCopyrightText: 2026 StreamScope contributors
 * SPDX-License-Identifier: Apache-2.0
 *
 * The versioned C table through which a profiler observes libcoord.
 *
 * libcoord looks up the symbol `streamscope_coord_observer` at run time (dlsym, once, when the
 * first Device is opened). Without it every hook is one predictable branch. With it, libcoord
 * reports what no driver callback can know: which operation a call belongs to, what depends on
 * what, and, on the simulated device, everything that CUPTI would report. Hooks never throw, never
 * block and never call back into libcoord. They may be called from any thread.
 *
 * A table with a different version or size is ignored.
 */
#ifndef COORD_OBSERVER_H_
#define COORD_OBSERVER_H_

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define COORD_OBSERVER_VERSION 1u
#define COORD_NONE 0xffffffffu

enum coord_operation_type {
  COORD_OPERATION_KERNEL = 0,
  COORD_OPERATION_MEMORY_TRANSFER,
  COORD_OPERATION_SYNCHRONIZATION,
  COORD_OPERATION_REDUCTION,
  COORD_OPERATION_BROADCAST,
  COORD_OPERATION_ALL_REDUCE,
  COORD_OPERATION_BARRIER
};

enum coord_operation_priority {
  COORD_PRIORITY_CRITICAL = 0,
  COORD_PRIORITY_HIGH,
  COORD_PRIORITY_NORMAL,
  COORD_PRIORITY_LOW,
  COORD_PRIORITY_CLEANUP
};

enum coord_operation_state {
  COORD_OPERATION_BEGUN = 1,
  COORD_OPERATION_SUBMITTED,
  COORD_OPERATION_COMPLETED,
  COORD_OPERATION_FAILED,
  COORD_OPERATION_CANCELLED
};

/* Whether the stream of an operation waits for a dependency, and if not, why no wait is needed. */
enum coord_elision {
  COORD_WAITED = 0,              /* a wait was issued, or the dependency is not submitted yet */
  COORD_ELIDED = 1,              /* no wait was, for an unspecified reason */
  COORD_ELIDED_SAME_STREAM,      /* the stream's own order */
  COORD_ELIDED_EARLIER_WAIT,     /* an earlier wait of the stream implied it */
  COORD_ELIDED_OTHER_DEPENDENCY, /* another dependency of the operation comes after it */
  COORD_ELIDED_ENDED             /* the host already knew that it had ended */
};

/* The clock of a stamp. */
enum coord_clock {
  COORD_CLOCK_VIRTUAL = 0, /* nanoseconds of a simulated device */
  COORD_CLOCK_COUNTER,     /* the processor's time-stamp counter, which is invariant */
  COORD_CLOCK_MONOTONIC    /* nanoseconds of CLOCK_MONOTONIC */
};

/* Times of the hooks below: for a simulated device nanoseconds of its virtual clock; otherwise 0,
 * and the observer takes the time. */

struct coord_device_facts {
  uint32_t device;  /* ordinal; a simulated device counts from 0 as well */
  uint32_t context; /* number that identifies this device in other structs */
  uint32_t simulated;
  uint32_t compute_capability; /* 10 * major + minor */
  uint32_t sm_count;
  uint32_t copy_engines;
  uint32_t max_connections;
  uint32_t reserved;
  uint64_t memory_bytes;
  const char* name;
  const char* uuid;
};

struct coord_stream_facts {
  uint32_t context;
  uint32_t stream; /* id within the context, as in coord_sim_op */
  uint64_t handle; /* native handle; as in coord_sim_call */
  uint32_t kind;   /* 0 legacy, 1 per-thread default, 2 blocking, 3 non-blocking */
  int32_t priority;
  uint32_t destroyed; /* 1: the stream ends here */
  uint32_t reserved;
  int64_t time_ns;
  const char* name; /* may be NULL or "" */
};

struct coord_operation_facts {
  uint32_t operation; /* process-unique */
  uint32_t type;      /* coord_operation_type */
  uint32_t priority;  /* coord_operation_priority */
  uint32_t context;
  uint64_t stream; /* native handle */
  uint32_t parent; /* group, COORD_NONE if none */
  uint32_t dependency_count;
  const uint32_t* dependencies;
  int64_t time_ns;
  const char* name;
  const char* call_site; /* "file:line function" */
};

struct coord_dependency_facts {
  uint32_t operation; /* the dependency */
  uint16_t inferred;
  uint16_t elided; /* coord_elision */
};

/* An operation that begins at registration. */
struct coord_operation_begin_facts {
  uint32_t operation;
  uint32_t type;
  uint32_t priority;
  uint32_t context;
  uint64_t stream; /* native handle */
  uint32_t parent; /* group, COORD_NONE if none */
  uint32_t clock;  /* coord_clock of the stamps */
  uint64_t registered;
  uint64_t begun;
  uint32_t dependency_count;
  uint32_t line; /* of the call site */
  const struct coord_dependency_facts* dependencies;
  const char* name;
  uint64_t name_bytes;
  const char* file; /* a literal, as is the function */
  const char* function;
};

/* One call on the simulated device, reported at its exit. */
struct coord_sim_call {
  const char* name; /* must be a SIM entry of the profiler's call table, e.g. "simEventRecord" */
  uint32_t correlation_id; /* 1, 2, ... in the order in which calls take effect; ties the call to
                              its coord_sim_op */
  uint32_t context;
  int32_t result; /* CUDA's code for the same outcome; 0 success, 600 not ready */
  uint32_t flags; /* 1: per-thread default stream variant, 2: the stream was being captured */
  int64_t begin_ns;
  int64_t end_ns;
  uint64_t stream; /* handle */
  uint64_t object; /* as in ring::CallRecord for this kind of call; kernel names: 0 */
  uint64_t value;
};

/* The numbers of trace::OpKind. */
enum coord_sim_op_kind {
  COORD_SIM_KERNEL = 0,
  COORD_SIM_MEMCPY,
  COORD_SIM_MEMSET,
  COORD_SIM_HOST_FUNCTION,
  COORD_SIM_MEMORY_WAIT,
  COORD_SIM_MEMORY_WRITE,
  COORD_SIM_GRAPH_LAUNCH
};

/* Work that ran on the simulated device, reported when it has ended (end_ns < 0: never). */
struct coord_sim_op {
  uint32_t kind;
  uint32_t correlation_id;
  uint32_t context;
  uint32_t stream;
  int64_t begin_ns; /* < 0: not started */
  int64_t end_ns;
  uint64_t bytes;
  uint32_t copy_kind;    /* CUPTI copy kind: 1 HtoD, 2 DtoH, 8 DtoD, 10 PtoP */
  uint32_t memory_kinds; /* source << 4 | destination: 1 pageable, 2 pinned, 3 device */
  uint32_t grid[3];
  uint32_t block[3];
  const char* name;
  uint64_t graph_node;
};

enum coord_pool_kind { COORD_POOL_EVENTS = 0, COORD_POOL_STREAMS, COORD_POOL_MEMORY };

struct coord_pool_facts {
  uint32_t pool;     /* process-unique */
  uint32_t kind;     /* coord_pool_kind */
  uint64_t capacity; /* 0: no limit */
  const char* name;
};

struct coord_pool_sample_facts {
  uint32_t pool;
  uint32_t reserved;
  uint64_t available;
  uint64_t in_use;
  uint64_t high_water; /* peak use */
  uint64_t waited_ns;  /* spent waiting for an element since the last sample */
  int64_t time_ns;
};

struct coord_barrier_stream {
  uint32_t context;
  uint32_t elided; /* 1: its wait was implied and not issued */
  uint64_t stream; /* native handle */
};

struct coord_barrier_facts {
  uint32_t operation; /* completed when the barrier was reached */
  uint32_t stream_count;
  const struct coord_barrier_stream* streams;
  const char* name;
  int64_t time_ns; /* when it was submitted */
};

/* A memory access. One of the first two fields identifies what accesses it; if neither does, the
 * calling thread does so now. */
struct coord_access_facts {
  uint32_t operation;      /* accessed by its work, as declared; COORD_NONE if not */
  uint32_t correlation_id; /* by the work of this call on the simulated device; COORD_NONE if not */
  uint64_t address;        /* of a simulated device: as in coord_sim_call */
  uint64_t bytes;
  uint32_t writes; /* 0: reads */
  uint32_t reserved;
  int64_t time_ns;
};

struct coord_barrier_arrival_facts {
  uint32_t operation; /* of the barrier, reported before */
  uint32_t context;
  uint64_t stream;    /* native handle */
  int64_t arrival_ns; /* when its host thread arrived; virtual, or CLOCK_MONOTONIC */
};

struct coord_timeline_facts {
  uint32_t timeline; /* process-unique */
  uint32_t reserved;
  uint64_t initial;
  const char* name;
};

enum coord_timeline_act {
  COORD_TIMELINE_SIGNAL = 0, /* the value was signaled by the host, or promised by a stream */
  COORD_TIMELINE_WAIT,       /* a host thread or a stream begins to wait for the value */
  COORD_TIMELINE_RELEASE,    /* the wait has ended because the value was reached; for streams,
                                only if no wait was needed */
  COORD_TIMELINE_GIVE_UP,    /* it has ended otherwise: timeout, or the timeline failed */
  COORD_TIMELINE_REACH,      /* the host now knows that the value was reached */
  COORD_TIMELINE_FAIL        /* no further value will be reached */
};

struct coord_timeline_act_facts {
  uint32_t timeline;
  uint32_t act;     /* coord_timeline_act */
  uint32_t context; /* COORD_NONE: the calling thread acts, not a stream */
  uint32_t reserved;
  uint64_t stream; /* native handle */
  uint64_t value;
  int64_t time_ns; /* 0 also for a timeline without a device */
};

enum coord_wait_party_kind {
  COORD_WAITS_OPERATION = 0, /* `object` is its number */
  COORD_WAITS_THREAD,        /* `object` is its system id, 0 if unknown */
  COORD_WAITS_BARRIER,
  COORD_WAITS_TIMELINE /* a value of a timeline, or a wait for it */
};

enum coord_wait_party_flags {
  COORD_WAITS_UNPROMISED = 1, /* no one has promised what it waits for */
  COORD_WAITS_IN_CYCLE = 2    /* it waits, indirectly, for itself */
};

struct coord_wait_party {
  uint32_t kind;  /* coord_wait_party_kind */
  uint32_t flags; /* coord_wait_party_flags */
  uint64_t object;
  const char* label; /* human-readable, with call sites */
};

struct coord_wait_link {
  uint32_t from; /* index of the party that waits */
  uint32_t to;   /* index of the party it waits for */
};

/* The part of the wait graph that leads to a wait that can never end, or to a cycle. */
struct coord_waits_facts {
  uint32_t party_count; /* 0: all waits can end */
  uint32_t link_count;
  const struct coord_wait_party* parties;
  const struct coord_wait_link* links;
  uint32_t given_up; /* 1: a wait of the calling thread ends with an error because of this */
  uint32_t reserved;
  int64_t time_ns;
};

struct coord_task_queue_facts {
  uint32_t queue; /* process-unique */
  uint32_t workers;
  uint32_t on_device; /* 0: workers are host threads, 1: warps of a GPU */
  uint32_t reserved;
  const char* name; /* may be NULL or "" */
};

struct coord_task {
  uint64_t task;  /* host thread: submission index, from 0; GPU: the program's number for it */
  uint64_t begin; /* clock: see coord_tasks_facts */
  uint64_t end;
  uint32_t worker;
  uint32_t sm;   /* COORD_NONE on the host */
  uint32_t type; /* type of work pinned to a stream; COORD_NONE if none */
  uint32_t reserved;
};

/* Tasks that have ended. */
struct coord_tasks_facts {
  uint32_t queue;
  uint32_t run; /* of a GPU queue; COORD_NONE: tasks of the calling thread */
  uint32_t
      clock; /* coord_clock of the host's stamps. Times of a run are ns since its workers began */
  uint32_t count;
  const struct coord_task* tasks;
  uint32_t last; /* 1: no more tasks of the run will be reported */
  uint32_t reserved;
  uint64_t left_out; /* number of tasks that ran but are never reported */
};

typedef struct coord_observer {
  uint32_t size;    /* of this table, in bytes */
  uint32_t version; /* COORD_OBSERVER_VERSION */

  void (*device)(const struct coord_device_facts*);
  void (*stream)(const struct coord_stream_facts*);
  void (*event_name)(uint32_t context, uint64_t event, const char* name);

  /* An operation that does not begin at registration. */
  void (*operation_registered)(const struct coord_operation_facts*);
  /* An operation that begins at registration. Returns where libcoord stores the stamp of the
   * submission's end, which is never 0, instead of calling operation_stamp, if the same thread ends
   * it with no other hook in between. NULL: libcoord calls operation_stamp. */
  uint64_t* (*operation_entered)(const struct coord_operation_begin_facts*);
  /* A kind of operations that differ only in number, stamps and dependencies, which are ignored
   * here. Returns the kind's number for operation_of_kind, valid forever and on each thread, or 0:
   * operation_entered is called for this operation. */
  uint32_t (*operation_kind)(const struct coord_operation_begin_facts*);
  /* operation_entered for one of a kind. */
  uint64_t* (*operation_of_kind)(uint32_t kind, uint32_t operation, uint64_t registered,
                                 uint64_t begun, const struct coord_dependency_facts* dependencies,
                                 uint32_t dependency_count);
  /* From its begin on a thread until its end, every CUDA (or simulated) call of that thread belongs
   * to the operation. Another thread may report the end. */
  void (*operation_begin)(uint32_t operation, int64_t time_ns);
  void (*operation_end)(uint32_t operation, int64_t time_ns);
  /* The state (coord_operation_state) of the operation from `stamp` on. Ends what operation_entered
   * began on this thread, unless operation_end or another begin came in between. */
  void (*operation_stamp)(uint32_t operation, uint32_t state, uint32_t clock, uint64_t stamp);
  /* Operations that are now known to be completed. */
  void (*operations_completed)(const uint32_t* operations, uint32_t count, uint32_t clock,
                               uint64_t stamp);
  /* How a dependency was satisfied at submission; elided: coord_elision. */
  void (*dependency)(uint32_t operation, uint32_t depends_on, uint32_t inferred, uint32_t elided);

  void (*sim_call)(const struct coord_sim_call*);
  void (*sim_op)(const struct coord_sim_op*);

  void (*mark)(const char* name, int64_t time_ns);

  void (*pool)(const struct coord_pool_facts*);
  void (*pool_sample)(const struct coord_pool_sample_facts*);
  void (*barrier)(const struct coord_barrier_facts*);
  void (*access)(const struct coord_access_facts*);
  void (*barrier_arrival)(const struct coord_barrier_arrival_facts*);
  void (*timeline)(const struct coord_timeline_facts*);
  void (*timeline_act)(const struct coord_timeline_act_facts*);
  /* Called when a wait is given up, and on request of the observer. */
  void (*waits)(const struct coord_waits_facts*);
  /* Gives the observer a function that calls `waits`. The observer may call it at any time, on its
   * own thread: it takes locks that threads of the program may hold. */
  void (*waits_on_request)(void (*notify)(void));
  void (*task_queue)(const struct coord_task_queue_facts*);
  /* The latest call of the calling thread launches the workers of a GPU queue. */
  void (*task_run)(uint32_t queue, uint32_t run);
  /* A stamp of the current time on the calling thread, and its coord_clock. */
  uint64_t (*task_stamp)(uint32_t* clock);
  /* Returns how many of the tasks, from the first on, were stored. */
  uint32_t (*tasks)(const struct coord_tasks_facts*);
} coord_observer;

/* Exported by libstreamscope_inject.so. Returns NULL if this process is not being recorded. */
typedef const coord_observer* (*coord_observer_function)(void);
#define COORD_OBSERVER_SYMBOL "streamscope_coord_observer"

#ifdef __cplusplus
}
#endif

#endif /* COORD_OBSERVER_H_ */
