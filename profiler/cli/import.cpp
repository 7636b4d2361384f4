// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "import/importer.h"

#include <memory>

#include "command.h"
#include "recording.h"
#include "terminal.h"
#include "trace/error.h"

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

}  // namespace

std::function<int()> define_import(CommandLine& line, ProgramArguments&) {
  struct Options {
    std::vector<std::string> files;
    std::string output, from = "auto";
    bool force = false, quiet = false;
  };
  auto options = std::make_shared<Options>();
  std::vector<std::string> formats = names_of(import::importers());
  formats.insert(formats.begin(), "auto");
  line.option("FILE", &options->files, "profiles of other tools; each becomes a trace",
              {.required = true});
  line.option("-o,--output", &options->output,
              "the trace to write, for a single FILE (default: the name of FILE, in the working "
              "folder)",
              {.takes = "FILE"});
  line.option("--from", &options->from,
              "format of the files (default auto: detected from their content); " +
                  described(import::importers()),
              {.one_of = formats});
  line.option("--force", &options->force, "replace existing traces");
  line.option("--quiet", &options->quiet, "no progress and no summary");
  return [options]() -> int {
    if (!options->output.empty() && options->files.size() > 1)
      throw Error("-o", "names one trace, but there are several files",
                  "import them one by one, or merge their traces with streamscope merge");
    for (const std::string& file : options->files) {
      const import::Importer& sniffed = import::importer_of(file);
      const import::Importer& importer =
          options->from == "auto" ? sniffed : *import::find_importer(options->from);
      const fs::path trace = options->output.empty() ? trace_name(file) : fs::path(options->output);
      {
        const Progress progress("importing " + file, options->quiet);
        import::import_file(importer, file, trace, options->force);
      }
      finish_trace(trace, options->quiet);
    }
    return kDone;
  };
}

}  // namespace streamscope::cli
