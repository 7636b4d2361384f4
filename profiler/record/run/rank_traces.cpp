// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0
#include "rank_traces.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <fstream>

#include "files.h"
#include "ring/process.h"
#include "rings_folder.h"
#include "trace/error.h"
#include "trace/folder_names.h"

namespace streamscope::record {
namespace {

namespace fs = std::filesystem;

// Names the job whose traces the folder has; locked by whoever joins.
constexpr char kJobFile[] = ".streamscope-job";

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

pid_t parent_of(pid_t process) {
  if (process == ::getpid()) return ::getppid();
  std::ifstream status("/proc/" + std::to_string(process) + "/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("PPid:")) return std::atoi(line.c_str() + 5);
  }
  return process;
}

bool is_trace(const std::string& name) {
  return (name.starts_with("rank-") || name.starts_with("no-rank-")) && name.ends_with(".sqlite");
}

// Finished traces, and those that are being recorded.
std::vector<fs::path> traces_in(const fs::path& folder) {
  constexpr std::string_view kRings = ".rings";
  std::vector<fs::path> traces;
  for (std::string name : trace::names_in(folder)) {
    if (name.ends_with(kRings)) name.resize(name.size() - kRings.size());
    if (is_trace(name)) traces.push_back(folder / name);
  }
  return traces;
}

void remove_traces(const fs::path& folder) {
  for (const fs::path& trace : traces_in(folder)) {
    bool in_use = false;
    if (auto rings = RingsFolder::take_over(trace, &in_use)) rings->remove();
    if (in_use && !RingsFolder::remove_unmade(trace))
      throw Error(trace, "is being recorded", "wait for it, or name another folder with --run",
                  EEXIST);
    const fs::path note = fs::path(trace).replace_extension(kHangNoteEnding);
    for (const fs::path& file :
         {trace, fs::path(trace.string() + "-wal"), fs::path(trace.string() + "-shm"), note}) {
      std::error_code error;
      fs::remove(file, error);
      if (error) throw file_error(file, "removed", error.value());
    }
  }
}

std::string read_text(int file) {
  std::string text(4096, '\0');
  const ssize_t got = ::pread(file, text.data(), text.size(), 0);
  text.resize(got > 0 ? static_cast<size_t>(got) : 0);
  return text;
}

}  // namespace

std::string host_name() {
  char name[256] = {};
  if (::gethostname(name, sizeof name - 1) != 0 || name[0] == '\0') return "host";
  std::string text = name;
  std::ranges::replace(text, '/', '_');
  return text;
}

RankClaim own_rank() {
  return read_rank([](std::string_view name) -> std::string_view {
    const char* value = std::getenv(std::string(name).c_str());
    return value == nullptr ? std::string_view() : value;
  });
}

Job job_of(pid_t process, const RankClaim& claim) {
  if (std::string given = variable(kJobVariable); !given.empty()) return {given, true};
  if (std::string space = variable("PMIX_NAMESPACE"); !space.empty()) return {space, true};
  const std::string job = variable("SLURM_JOB_ID"), step = variable("SLURM_STEP_ID");
  if (!job.empty() && !step.empty()) return {job + "." + step, true};
  // The ranks of one host have one launcher. A process without a rank is the launcher itself.
  const auto starter = static_cast<uint32_t>(claim.is_known() ? parent_of(process) : process);
  return {host_name() + " " + std::to_string(starter) + " " +
              std::to_string(ring::process_start(starter)),
          false};
}

void join_job(const fs::path& folder, const Job& job, const RankClaim& claim, bool force) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) throw file_error(folder, "created", error.value());
  const fs::path name = folder / kJobFile;
  const Descriptor file(::open(name.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!file) throw file_error(name, "opened", errno);
  // A file system without locks leaves a moment in which two jobs may take the folder.
  (void)::flock(file.get(), LOCK_EX);
  const bool has_traces = !traces_in(folder).empty();
  // Whoever started this job may also have started the one before.
  const fs::path own = trace_names(folder, claim, 0).front();
  const bool is_repeated = !job.is_given && claim.is_known() && fs::exists(own, error) &&
                           !fs::exists(fs::symlink_status(rings_path(own), error));
  if (read_text(file.get()) == job.name && has_traces && !is_repeated) return;
  if (has_traces && !force) {
    throw Error(folder, "has traces of another job already",
                std::string("name another folder, or replace them with --force; recorders of one "
                            "job are known by ") +
                    kJobVariable + ", which you can set",
                EEXIST);
  }
  if (has_traces) remove_traces(folder);
  if (::ftruncate(file.get(), 0) != 0 || ::pwrite(file.get(), job.name.data(), job.name.size(),
                                                  0) != static_cast<ssize_t>(job.name.size()))
    throw file_error(name, "written", errno);
}

std::vector<fs::path> trace_names(const fs::path& folder, const RankClaim& claim, pid_t process) {
  const std::string place = "-" + host_name() + "-" + std::to_string(process) + ".sqlite";
  if (!claim.is_known()) return {folder / ("no-rank" + place)};
  char rank[32];
  std::snprintf(rank, sizeof rank, "rank-%05d", claim.rank);
  return {folder / (std::string(rank) + ".sqlite"), folder / (rank + place)};
}

Session open_rank_session(const Options& options, pid_t process, pid_t member) {
  const RankClaim claim = own_rank();
  join_job(options.run, job_of(member, claim), claim, options.force);
  const std::vector<fs::path> names = trace_names(options.run, claim, process);
  Options mine = options;
  mine.force = false;  // every other trace here is of this job
  try {
    return Session(names.front(), mine);
  } catch (const Error& error) {
    if (error.code() != EEXIST || names.size() == 1) throw;
  }
  mine.rank_trace = names.front();
  return Session(names.back(), mine);
}

}  // namespace streamscope::record
