// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0
#include "stopped_stack.h"

#include <elf.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>
#include <thread>

#if STREAMSCOPE_HAVE_LIBDW
#include <elfutils/libdwfl.h>
#endif

namespace streamscope::record {
namespace {

using Clock = std::chrono::steady_clock;
using namespace std::chrono_literals;

constexpr size_t kMostStackBytes = 32 << 10;
// A thread that has a processor stops within microseconds; one that has none, when it gets one. It
// would not get ours if that were busy waiting for it.
constexpr std::chrono::microseconds kBusyWait = 50us, kPoll = 50us, kMostWait = 10ms;

size_t read_memory(pid_t process, uint64_t from, void* to, size_t bytes) {
  iovec local{to, bytes}, remote{reinterpret_cast<void*>(from), bytes};
  const ssize_t got = ::process_vm_readv(process, &local, 1, &remote, 1, 0);
  return got < 0 ? 0 : static_cast<size_t>(got);
}

// The stack ends somewhere behind `sp`: what can be read of it, page by page.
void copy_stack(pid_t process, StackCopy& copy) {
  constexpr size_t kPage = 4096;
  copy.memory.resize(kMostStackBytes);
  iovec local{copy.memory.data(), copy.memory.size()};
  iovec remote[kMostStackBytes / kPage + 1];
  size_t pieces = 0;
  for (uint64_t at = copy.sp; at < copy.sp + kMostStackBytes; ++pieces) {
    const uint64_t next = std::min((at / kPage + 1) * kPage, copy.sp + kMostStackBytes);
    remote[pieces] = {reinterpret_cast<void*>(at), next - at};
    at = next;
  }
  const ssize_t got = ::process_vm_readv(process, &local, 1, remote, pieces, 0);
  copy.memory.resize(got < 0 ? 0 : static_cast<size_t>(got));
}

bool copy_registers(pid_t thread, StackCopy& copy) {
  user_regs_struct regs{};
  iovec into{&regs, sizeof regs};
  if (::ptrace(PTRACE_GETREGSET, thread, NT_PRSTATUS, &into) != 0) return false;
#if defined(__x86_64__)
  const uint64_t values[] = {regs.rax, regs.rdx, regs.rcx, regs.rbx, regs.rsi, regs.rdi,
                             regs.rbp, regs.rsp, regs.r8,  regs.r9,  regs.r10, regs.r11,
                             regs.r12, regs.r13, regs.r14, regs.r15, regs.rip};
  copy.pc = regs.rip;
  copy.sp = regs.rsp;
  copy.known = (1u << std::size(values)) - 1;
  std::memcpy(copy.registers, values, sizeof values);
#elif defined(__aarch64__)
  std::memcpy(copy.registers, regs.regs, sizeof regs.regs);
  copy.registers[31] = regs.sp;
  copy.pc = regs.pc;
  copy.sp = regs.sp;
  copy.known = ~uint32_t{0};
#else
  return false;
#endif
  return true;
}

// True once a thread that is to stop has stopped. Other threads of ours wait for its process
// too and may take the report that it stopped, so it is asked for.
bool has_stopped(pid_t thread, siginfo_t& info) {
  return ::ptrace(PTRACE_GETSIGINFO, thread, nullptr, &info) == 0;
}

// A stop ends these calls with EINTR, although no signal handler ran: signal(7). They have done
// nothing yet, so the kernel is asked to make them again. Only their timeouts start from the
// beginning.
void restart_call(pid_t thread) {
#if defined(__x86_64__)
  constexpr unsigned long long kRestart = -514;  // ERESTARTNOHAND: EINTR only if a handler runs
  constexpr unsigned long long kCode64 = 0x33;
  user_regs_struct regs{};
  iovec bytes{&regs, sizeof regs};
  if (::ptrace(PTRACE_GETREGSET, thread, NT_PRSTATUS, &bytes) != 0) return;
  if (static_cast<long long>(regs.rax) != -EINTR || regs.cs != kCode64) return;
  switch (static_cast<long long>(regs.orig_rax)) {  // -1: it was not in a call
    case SYS_read:
    case SYS_readv:
    case SYS_write:
    case SYS_writev:
    case SYS_accept:
    case SYS_accept4:
    case SYS_recvfrom:
    case SYS_recvmsg:
    case SYS_sendto:
    case SYS_sendmsg:
    case SYS_epoll_wait:
    case SYS_epoll_pwait:
    case 441:  // epoll_pwait2
    case SYS_io_getevents:
    case 426:  // io_uring_enter
    case SYS_rt_sigtimedwait:
    case SYS_semop:
    case SYS_semtimedop:
      regs.rax = kRestart;
      ::ptrace(PTRACE_SETREGSET, thread, NT_PRSTATUS, &bytes);
      break;
    default:
      break;
  }
#else
  (void)thread;  // the first argument of the call is not known any more
#endif
}

// False if it has ended meanwhile.
bool let_continue(pid_t thread, const siginfo_t& info) {
  restart_call(thread);
  // It may have stopped to receive a signal, which must reach it.
  const long signal = info.si_code >> 8 == PTRACE_EVENT_STOP ? 0 : info.si_signo;
  if (::ptrace(PTRACE_DETACH, thread, nullptr, signal) != 0) return false;
  // The report that it stopped, unless another has taken it. That it ended is for its parent.
  siginfo_t report{};
  ::waitid(P_PID, static_cast<id_t>(thread), &report, WSTOPPED | WNOHANG | __WALL);
  return true;
}

bool is_child(pid_t process) {
  std::ifstream file("/proc/" + std::to_string(process) + "/stat");
  std::string text;
  std::getline(file, text);
  const size_t name_end = text.rfind(')');  // then comes " STATE PARENT"
  return name_end != std::string::npos && text.size() > name_end + 4 &&
         std::atoi(text.c_str() + name_end + 4) == ::getpid();
}

// True once a traced thread has ended. The system keeps it, and its process, until its tracer has
// seen that; the exit code of a child is for whoever waits for the child.
bool has_ended(pid_t process, pid_t thread) {
  const auto wait = [&](int how) {
    siginfo_t report{};
    if (::waitid(P_PID, static_cast<id_t>(thread), &report, how | WEXITED | WNOHANG | __WALL) != 0)
      return true;
    // Stops of a traced thread are reported, too.
    return report.si_pid != 0 && report.si_code != CLD_TRAPPED && report.si_code != CLD_STOPPED;
  };
  if (!wait(WNOWAIT)) return false;
  if (thread != process || !is_child(process)) wait(0);
  return true;
}

}  // namespace

bool Stopper::copy(pid_t process, pid_t thread, StackCopy& copy) {
  copy = {};
  if (::ptrace(PTRACE_SEIZE, thread, nullptr, nullptr) != 0) return false;
  const auto begin = Clock::now();
  auto since = begin;
  ::ptrace(PTRACE_INTERRUPT, thread, nullptr, nullptr);
  siginfo_t info{};
  while (!has_stopped(thread, info)) {
    since = Clock::now();
    if (errno != ESRCH || since - begin > kMostWait) {
      late_.push_back({process, thread});
      return false;
    }
    if (since - begin > kBusyWait) std::this_thread::sleep_for(kPoll);
  }
  const bool copied = copy_registers(thread, copy);
  if (copied) copy_stack(process, copy);
  if (!let_continue(thread, info)) late_.push_back({process, thread});
  stopped_ns_ += std::chrono::nanoseconds(Clock::now() - since).count();
  return copied;
}

void Stopper::release() {
  std::erase_if(late_, [](const Late& late) {
    siginfo_t info{};
    if (has_stopped(late.thread, info)) return let_continue(late.thread, info);
    return has_ended(late.process, late.thread);
  });
}

bool copy_waiting(pid_t process, uint64_t pc, uint64_t sp, StackCopy& copy) {
  copy = {};
  copy.pc = pc;
  copy.sp = sp;
#if defined(__x86_64__)
  constexpr size_t kStackPointer = 7, kReturn = 16;
  copy.registers[kStackPointer] = sp;
  copy.registers[kReturn] = pc;
  copy.known = 1u << kStackPointer | 1u << kReturn;
#elif defined(__aarch64__)
  copy.registers[31] = sp;
  copy.known = 1u << 31;
#endif
  copy_stack(process, copy);
  return !copy.memory.empty();
}

#if STREAMSCOPE_HAVE_LIBDW

namespace {

// The frame pointer of a thread that waits is not known, and code that keeps frame pointers cannot
// be unwound without it. At the address that it has, the caller's is stored, and the return address
// behind it: the first pair above `sp` of which that may be true, and again of the caller's.
template <class IsCode>
bool guess_frame_pointer(StackCopy& copy, IsCode is_code) {
#if defined(__x86_64__)
  constexpr size_t kFramePointer = 6, kMostDistance = 2048;
  if ((copy.known >> kFramePointer & 1) != 0) return false;
  const uint64_t end = copy.sp + copy.memory.size();
  // 0 if no frame may be at an address.
  const auto caller_of = [&](uint64_t address) -> uint64_t {
    uint64_t pair[2];
    if (address < copy.sp || address % 8 != 0 || address + sizeof pair > end) return 0;
    std::memcpy(pair, copy.memory.data() + (address - copy.sp), sizeof pair);
    return pair[0] > address && pair[0] < end && is_code(pair[1]) ? pair[0] : 0;
  };
  for (uint64_t at = copy.sp; at < copy.sp + kMostDistance; at += 8) {
    const uint64_t caller = caller_of(at);
    if (caller == 0 || caller_of(caller) == 0) continue;
    copy.registers[kFramePointer] = at;
    copy.known |= 1u << kFramePointer;
    return true;
  }
#endif
  return false;
}

}  // namespace

struct Unwinder::Impl {
  explicit Impl(pid_t pid) : process(pid) {}
  ~Impl() { end(); }

  static constexpr auto kLeastAge = 1s;  // of a list of modules before it is read again
  static constexpr size_t kMostFrames = 64;

  void end() {
    if (session != nullptr) dwfl_end(session);
    session = nullptr;
  }
  bool begin() {
    static constexpr Dwfl_Callbacks kCallbacks = {.find_elf = dwfl_linux_proc_find_elf,
                                                  .find_debuginfo = no_debug_file,
                                                  .section_address = dwfl_offline_section_address,
                                                  .debuginfo_path = nullptr};
    static constexpr Dwfl_Thread_Callbacks kThreads = {.next_thread = next_thread,
                                                       .get_thread = nullptr,
                                                       .memory_read = read,
                                                       .set_initial_registers = set_registers,
                                                       .detach = nullptr,
                                                       .thread_detach = nullptr};
    end();
    since = Clock::now();
    session = dwfl_begin(&kCallbacks);
    if (session == nullptr) return false;
    if (dwfl_linux_proc_report(session, process) == 0 &&
        dwfl_report_end(session, nullptr, nullptr) == 0 &&
        dwfl_attach_state(session, nullptr, process, &kThreads, this))
      return true;
    end();
    return false;
  }

  // Frames are unwound by what the loaded files contain.
  static int no_debug_file(Dwfl_Module*, void**, const char*, Dwarf_Addr, const char*, const char*,
                           GElf_Word, char**) {
    return -1;
  }
  // There is one thread: the copied one.
  static pid_t next_thread(Dwfl*, void* self, void** thread) {
    if (*thread != nullptr) return 0;
    *thread = self;
    return static_cast<Impl*>(self)->process;
  }
  static bool read(Dwfl*, Dwarf_Addr from, Dwarf_Word* to, void* pointer) {
    const Impl& self = *static_cast<Impl*>(pointer);
    const StackCopy& copy = *self.copy;
    if (from >= copy.sp && from - copy.sp + sizeof *to <= copy.memory.size()) {
      std::memcpy(to, copy.memory.data() + (from - copy.sp), sizeof *to);
      return true;
    }
    return read_memory(self.process, from, to, sizeof *to) == sizeof *to;
  }
  static bool set_registers(Dwfl_Thread* thread, void* pointer) {
    const StackCopy& copy = *static_cast<Impl*>(pointer)->copy;
    for (unsigned i = 0; i < 32; ++i) {
      const Dwarf_Word value = copy.registers[i];
      if ((copy.known >> i & 1) != 0 &&
          !dwfl_thread_state_registers(thread, static_cast<int>(i), 1, &value))
        return false;
    }
    dwfl_thread_state_register_pc(thread, copy.pc);
    return true;
  }
  static int add(Dwfl_Frame* frame, void* pointer) {
    auto& addresses = *static_cast<std::vector<uint64_t>*>(pointer);
    Dwarf_Addr address = 0;
    bool innermost = false;
    if (!dwfl_frame_pc(frame, &address, &innermost)) return DWARF_CB_ABORT;
    addresses.push_back(innermost ? address : address - 1);  // a return address is after its call
    return addresses.size() < kMostFrames ? DWARF_CB_OK : DWARF_CB_ABORT;
  }

  std::vector<uint64_t> walk(const StackCopy& from) {
    std::vector<uint64_t> addresses;
    copy = &from;
    dwfl_getthread_frames(session, process, add, &addresses);
    copy = nullptr;
    return addresses;
  }

  bool is_code(uint64_t address) const { return dwfl_addrmodule(session, address) != nullptr; }

  SampledFrame describe(uint64_t address) {
    SampledFrame frame{.text = {}, .module = {}, .address = address};
    Dwfl_Module* module = dwfl_addrmodule(session, address);
    const char *file = nullptr, *name = nullptr;
    GElf_Addr bias = 0;
    if (module == nullptr || dwfl_module_getelf(module, &bias) == nullptr) return frame;
    name = dwfl_module_info(module, nullptr, nullptr, nullptr, nullptr, nullptr, &file, nullptr);
    frame.module = file != nullptr ? file : name != nullptr ? name : "";
    frame.address = address - bias;
    return frame;
  }

  pid_t process;
  Dwfl* session = nullptr;
  Clock::time_point since{};
  const StackCopy* copy = nullptr;
};

void Unwinder::unwind(const StackCopy& copy, std::vector<SampledFrame>& frames) {
  frames.clear();
  Impl& impl = *impl_;
  const bool is_old = Clock::now() - impl.since > Impl::kLeastAge;
  // Libraries may have been loaded since.
  const bool is_unknown =
      impl.session == nullptr || dwfl_addrmodule(impl.session, copy.pc) == nullptr;
  if (is_unknown && (!is_old || !impl.begin())) {
    if (impl.session == nullptr) return;
  }
  std::vector<uint64_t> addresses = impl.walk(copy);
  constexpr size_t kFew = 3;  // frames of a stack that could not be unwound to its end
  if (addresses.size() < kFew) {
    StackCopy guessed = copy;
    const auto is_code = [&](uint64_t address) { return impl.is_code(address); };
    if (guess_frame_pointer(guessed, is_code)) {
      std::vector<uint64_t> more = impl.walk(guessed);
      if (more.size() > addresses.size()) addresses = std::move(more);
    }
  }
  for (const uint64_t address : addresses) frames.push_back(impl.describe(address));
}

#else

struct Unwinder::Impl {
  explicit Impl(pid_t) {}
};
void Unwinder::unwind(const StackCopy&, std::vector<SampledFrame>& frames) { frames.clear(); }

#endif

Unwinder::Unwinder(pid_t process) : impl_(std::make_unique<Impl>(process)) {}
Unwinder::~Unwinder() = default;

}  // namespace streamscope::record
