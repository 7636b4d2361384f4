// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "import/importer.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <memory>

#include "command.h"
#include "record/run/rank_traces.h"
#include "recording.h"
#include "terminal.h"
#include "trace/error.h"
#include "trace/folder_names.h"

namespace streamscope::cli {
namespace {

namespace fs = std::filesystem;

// "run.json.gz" becomes "run.sqlite" in the working folder; an export keeps its own name, so the
// trace of "run.sqlite" is "run.streamscope.sqlite".
fs::path trace_name(const fs::path& file) {
  fs::path name = file.filename();
  const bool is_sqlite = name.extension() == ".sqlite";
  if (name.extension() == ".gz") name.replace_extension();
  name.replace_extension();
  return name.string() + (is_sqlite ? ".streamscope.sqlite" : ".sqlite");
}

struct ImportArguments {
  std::vector<std::string> files;
  std::string output, run, from = "auto";
  bool force = false, quiet = false;
};

const import::Importer& importer_of(const ImportArguments& options, const fs::path& file) {
  const import::Importer& sniffed = import::importer_of(file);
  return options.from == "auto" ? sniffed : *import::find_importer(options.from);
}

void import_one(const ImportArguments& options, const fs::path& file, const fs::path& trace) {
  const Progress progress("importing " + file.string(), options.quiet);
  import::import_file(importer_of(options, file), file, trace, options.force);
}

// The files, and the profiles in the folders, by name.
std::vector<fs::path> profiles_of(const ImportArguments& options) {
  std::vector<fs::path> profiles;
  for (const fs::path file : options.files) {
    std::error_code error;
    if (!fs::is_directory(file, error)) {
      profiles.push_back(file);
      continue;
    }
    const size_t before = profiles.size();
    for (const std::string& name : trace::names_in(file)) {
      if (fs::is_regular_file(file / name, error) && import::is_importable(file / name))
        profiles.push_back(file / name);
    }
    if (profiles.size() == before) throw Error(file, "contains no profile", "check the path");
    std::sort(profiles.begin() + static_cast<std::ptrdiff_t>(before), profiles.end());
  }
  return profiles;
}

// One trace for each rank. Its name is known only after the import.
void import_run(const ImportArguments& options) {
  const fs::path run = options.run;
  const std::vector<fs::path> profiles = profiles_of(options);
  record::join_job(run, {"import " + std::to_string(::getpid()), true}, {}, options.force);
  std::map<int32_t, fs::path> imported;  // by rank
  for (const fs::path& file : profiles) {
    const fs::path part = run / ".importing.sqlite";
    std::vector<fs::path> traces;
    const auto keep = [&](const RankClaim& claim) {
      std::error_code ignored;
      if (!claim.is_known()) {
        fs::remove(part, ignored);
        throw Error(file, "does not say which rank it is about",
                    "name it by its rank, such as rank3_" + file.filename().string());
      }
      const auto [earlier, is_new] = imported.emplace(claim.rank, file);
      if (!is_new) {
        fs::remove(part, ignored);
        throw Error(file,
                    fmt::format("is about rank {}, as is {}", claim.rank, earlier->second.string()),
                    "import one profile of each rank");
      }
      traces.push_back(record::trace_names(run, claim, 0).front());
      fs::rename(part, traces.back());
    };
    {
      const Progress progress("importing " + file.string(), options.quiet);
      import::import_processes(importer_of(options, file), file, part, keep);
    }
    for (const fs::path& trace : traces) finish_trace(trace, options.quiet);
  }
}

}  // namespace

std::function<int()> define_import(CommandLine& line, ProgramArguments&) {
  auto options = std::make_shared<ImportArguments>();
  std::vector<std::string> formats = names_of(import::importers());
  formats.insert(formats.begin(), "auto");
  line.option("FILE", &options->files,
              "profiles of other tools; each becomes a trace. With --run also folders of them",
              {.required = true});
  line.option("-o,--output", &options->output,
              "the trace to write, for a single FILE (default: the name of FILE, in the working "
              "folder)",
              {.takes = "FILE"});
  line.option(
      "--run", &options->run,
      "folder for the traces of a job, one for each rank; the rank is read from the profile, "
      "or else from its name, such as rank3_step5.json",
      {.takes = "DIR"});
  line.option("--from", &options->from,
              "format of the files (default auto: detected from their content); " +
                  described(import::importers()),
              {.one_of = formats});
  line.option("--force", &options->force, "replace existing traces");
  line.option("--quiet", &options->quiet, "no progress and no summary");
  return [options]() -> int {
    if (!options->output.empty() && !options->run.empty())
      throw Error("import", "-o names one trace, and --run a folder of traces", "use one of them");
    if (!options->run.empty()) {
      import_run(*options);
      return kDone;
    }
    if (!options->output.empty() && options->files.size() > 1)
      throw Error("-o", "names one trace, but there are several files",
                  "import them one by one, or merge their traces with streamscope merge");
    for (const std::string& file : options->files) {
      const fs::path trace = options->output.empty() ? trace_name(file) : fs::path(options->output);
      import_one(*options, file, trace);
      finish_trace(trace, options->quiet);
    }
    return kDone;
  };
}

}  // namespace streamscope::cli
