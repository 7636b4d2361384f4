// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0
#include "writer.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <deque>
#include <map>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <vector>

#include "row_source.h"
#include "trace/change/trace_change.h"
#include "trace/change/wal.h"
#include "trace/checks.h"
#include "trace/error.h"
#include "trace/function_name.h"
#include "trace/loss.h"
#include "trace/schema/own_schema.h"
#include "trace/schema/schema.h"
#include "trace/schema/table_sql.h"
#include "trace/sqlite/open.h"
#include "trace/sqlite/sqlite.h"
#include "trace/tables.h"

namespace streamscope::trace {
namespace {

// Small pages keep the file of a short run small (each of the 40 tables has at least one); larger
// ones gain under 5 %.
constexpr int kPageBytes = 4096;
// The WAL is copied into the file when it has grown to this size: rarely enough that pages which
// are still being filled are copied once, often enough that the WAL of a long run stays small
// compared to the file.
constexpr int kCheckpointPages = 8192;
// A scan of fewer rows is too fast to notice, and an index would take at least one page.
constexpr Id kFewestIndexedRows = 1000;

constexpr std::string_view kUnknownText = "?";

// Keys of table meta that the writer itself uses; schema.sql describes them.
constexpr char kFormat[] = "format_version";
constexpr char kComplete[] = "complete";
constexpr char kFinished[] = "finished";
constexpr char kDuration[] = "duration_ns";

// Rows of one table that are not stored yet, and the state of those that are.
struct TableBuffer {
  std::vector<unsigned char> bytes;  // consecutive rows; its size is the capacity, not the content
  size_t used = 0;
  Id stored = 0;                       // rows in the database
  Id count = 0;                        // rows appended
  std::vector<unsigned char> changed;  // replacements of stored rows
  std::vector<Id> changed_ids;
  bool clear = false;  // delete the stored rows first
  // Whether start_ns ascends with id. A change of a stored row may break that, so then the end
  // checks again.
  Ns last_start_ns = kUnknownNs;
  bool ascends = true;
  bool look_again = false;
  uint32_t used_columns =
      0;  // bit i: column i has ever had a value; insert_rest fetches only those
  Statement insert_first, insert_rest, update;
};

template <class Row>
void append_row(TableBuffer& buffer, const Row& row) {
  if (buffer.bytes.size() - buffer.used < sizeof row)
    buffer.bytes.resize(std::max(buffer.bytes.size() * 2, 64 * sizeof row));
  std::memcpy(buffer.bytes.data() + buffer.used, &row, sizeof row);
  buffer.used += sizeof row;
}

// The columns that ever had a value, including those of the buffered rows. Many never do, and each
// column that is not fetched saves a thirtieth of the time per row.
uint32_t columns_in_use(const TableInfo& info, const TableBuffer& buffer) {
  uint32_t used = buffer.used_columns;
  for (size_t c = 0; c < info.columns.size(); c++) {
    for (size_t at = 0; (used >> c & 1) == 0 && at < buffer.used; at += info.row_bytes) {
      if (field_value(info.columns[c], buffer.bytes.data() + at) != kNoInt) used |= 1u << c;
    }
  }
  return used;
}

}  // namespace

struct Writer::Impl {
  explicit Impl(const std::filesystem::path& file)
      : database(file, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX) {
    sqlite3_busy_timeout(database.get(), 2'000);
    register_row_source(database, &source);
  }
  /// Works on a copy, which no one else opens, so without locks.
  Impl(const std::filesystem::path& file, std::unique_ptr<TraceChange> change_of_file)
      : change(std::move(change_of_file)),
        database(change->copy(), SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_URI,
                 file) {
    begin_recording(false);
    register_row_source(database, &source);
  }

  TableBuffer& table(TableIndex index) { return buffers[static_cast<size_t>(index)]; }

  // Called before an existing file is changed.
  void expect_harmless() const {
    expect_trace(database);
    expect_no_triggers(database);
  }
  void begin_recording(bool read_meanwhile);
  void load_existing();
  void store(bool commit);
  void store_table(const TableInfo& info, TableBuffer& buffer);
  void store_strings();
  void store_meta();
  bool ascends(const TableInfo& info, TableBuffer& buffer);
  void index_starts();
  void note_kernel(const Op& op);
  Id add_string(std::string text);

  std::unique_ptr<TraceChange> change;  // of a finished trace, unless a process reads its log
  Database database;
  RowSource source;
  std::array<TableBuffer, kTableCount> buffers;

  std::deque<std::string> strings;  // addresses are stable: `ids` refers to them
  std::unordered_map<std::string_view, Id> ids;
  size_t stored_strings = 0;
  std::vector<Id> changed_strings;
  Statement insert_string, update_string;
  std::vector<bool> is_kernel_name;  // by id of string
  bool stores_kernel_names = true;

  std::map<std::string, std::pair<std::string, bool>, std::less<>> meta;  // value, is it an integer
  std::vector<std::string> meta_erased;
  bool meta_changed = false;
  bool own_duration = true;
  Ns last_ns = 0;  // latest time in any row
  bool derived = false;

  Damage damage;                  // impossible values that were appended
  std::vector<Id> damage_losses;  // a row of loss for each of its tables
};

void Writer::Impl::begin_recording(bool read_meanwhile) {
  // Killing the writer at any time loses at most the current transaction, whatever `synchronous`
  // is. It matters only if the whole machine stops, and waiting for the disk would take a fifth of
  // the writer's time.
  database.run("PRAGMA synchronous=OFF; PRAGMA cache_size=-16384");
  if (read_meanwhile) {
    database.run("PRAGMA journal_mode=WAL; PRAGMA wal_autocheckpoint=" +
                 std::to_string(kCheckpointPages));
  } else {
    // Every page is written once, into the file.
    database.run("PRAGMA journal_mode=MEMORY; PRAGMA locking_mode=EXCLUSIVE");
  }
}

void Writer::Impl::load_existing() {
  for (size_t i = 0; i < kTableCount; i++) {
    std::string name = tables()[i].name;
    TableBuffer& buffer = buffers[i];
    int64_t count = database.integer("SELECT coalesce(max(id) + 1, 0) FROM " + name);
    if (count < 0 || count >= kNoId)
      throw Error(database.file(), "has ids out of range in table " + name);
    buffer.stored = buffer.count = static_cast<Id>(count);
    buffer.look_again = count > 0;
  }
  Statement read_strings(database, "SELECT id, value FROM string ORDER BY id");
  while (read_strings.step()) {
    if (read_strings.integer(0) != static_cast<int64_t>(strings.size())) {
      throw Error(database.file(), "is damaged: the ids of its texts are not dense",
                  "record it again");
    }
    add_string(std::string(read_strings.text(1)));
  }
  stored_strings = strings.size();
  Statement read_meta(database, "SELECT key, value, typeof(value) = 'integer' FROM meta");
  while (read_meta.step()) {
    meta[std::string(read_meta.text(0))] = {std::string(read_meta.text(1)),
                                            read_meta.integer(2) != 0};
  }
  if (auto duration = meta.find(kDuration); duration != meta.end()) {
    last_ns = std::strtoll(duration->second.first.c_str(), nullptr, 10);
  }
}

Id Writer::Impl::add_string(std::string text) {
  Id id = static_cast<Id>(strings.size());
  strings.push_back(std::move(text));
  ids.emplace(strings.back(), id);
  return id;
}

void Writer::Impl::store_table(const TableInfo& info, TableBuffer& buffer) {
  if (buffer.clear) {
    // Recreated, with its views: its rows and indexes disappear at once.
    database.run("DROP TABLE " + std::string(info.name));
    database.run(std::string(create_table_sql(info.name)) + create_views_sql(info.name));
  }
  for (size_t i = 0; i < buffer.changed_ids.size(); i++) {
    if (!buffer.update) buffer.update = Statement(database, update_sql(info), true);
    const unsigned char* row = buffer.changed.data() + i * info.row_bytes;
    buffer.update.bind(1, static_cast<int64_t>(buffer.changed_ids[i]));
    for (size_t c = 0; c < info.columns.size(); c++) {
      const Int value = field_value(info.columns[c], row);
      const int index = static_cast<int>(c) + 2;
      value != kNoInt ? buffer.update.bind(index, value) : buffer.update.bind_null(index);
    }
    buffer.update.run();
  }
  size_t rows = buffer.used / info.row_bytes;
  if (rows == 0) return;
  source = {&info, buffer.bytes.data(), rows};
  if (buffer.stored == 0) {
    source.count = 1;
    if (!buffer.insert_first) buffer.insert_first = Statement(database, insert_sql(info, true, 0));
    buffer.insert_first.run();
    source = {&info, buffer.bytes.data() + info.row_bytes, rows - 1};
  }
  if (source.count == 0) return;
  uint32_t used_columns = columns_in_use(info, buffer);
  if (!buffer.insert_rest || used_columns != buffer.used_columns) {
    buffer.used_columns = used_columns;
    buffer.insert_rest = Statement(database, insert_sql(info, false, used_columns), true);
  }
  buffer.insert_rest.run();
}

void Writer::Impl::store_strings() {
  for (; stored_strings < strings.size(); stored_strings++) {
    if (!insert_string)
      insert_string = Statement(database, "INSERT INTO string VALUES(?1, ?2)", true);
    insert_string.bind(1, static_cast<int64_t>(stored_strings));
    insert_string.bind(2, strings[stored_strings]);
    insert_string.run();
  }
  for (Id id : changed_strings) {
    if (!update_string)
      update_string = Statement(database, "UPDATE string SET value=?2 WHERE id=?1", true);
    update_string.bind(1, static_cast<int64_t>(id));
    update_string.bind(2, strings[id]);
    update_string.run();
  }
  changed_strings.clear();
}

void Writer::Impl::store_meta() {
  if (!meta_changed) return;
  Statement statement(database, "INSERT OR REPLACE INTO meta VALUES(?1, ?2)");
  for (const auto& [key, value] : meta) {
    statement.bind(1, key);
    if (value.second) {
      statement.bind(2, static_cast<int64_t>(std::strtoll(value.first.c_str(), nullptr, 10)));
    } else {
      statement.bind(2, value.first);
    }
    statement.run();
  }
  Statement erase(database, "DELETE FROM meta WHERE key=?1");
  for (const std::string& key : meta_erased) {
    erase.bind(1, key);
    erase.run();
  }
  meta_erased.clear();
  meta_changed = false;
}

// Everything in one transaction; on failure nothing was stored and everything is still buffered.
// Without `commit` the transaction stays open for the next call, and a failure undoes the previous
// ones too.
void Writer::Impl::store(bool commit) {
  size_t strings_before = stored_strings;
  std::vector<Id> changed_before = changed_strings;
  if (sqlite3_get_autocommit(database.get()) != 0) database.run("BEGIN IMMEDIATE");
  try {
    for (size_t i = 0; i < kTableCount; i++) store_table(tables()[i], buffers[i]);
    store_strings();
    store_meta();
    if (commit) database.run("COMMIT");
  } catch (...) {
    stored_strings = strings_before;
    changed_strings = std::move(changed_before);
    meta_changed = true;
    if (sqlite3_get_autocommit(database.get()) == 0) {
      sqlite3_exec(database.get(), "ROLLBACK", nullptr, nullptr, nullptr);
    }
    throw;
  }
  for (TableBuffer& buffer : buffers) {
    buffer.stored = buffer.count;
    buffer.used = 0;
    buffer.clear = false;
    buffer.changed.clear();
    buffer.changed_ids.clear();
  }
}

bool Writer::Impl::ascends(const TableInfo& info, TableBuffer& buffer) {
  if (!buffer.look_again) return buffer.ascends;
  Statement starts(database, "SELECT start_ns FROM " + std::string(info.name) + " ORDER BY id");
  Ns last = kUnknownNs;
  while (starts.step()) {
    if (starts.is_null(0)) continue;
    if (starts.integer(0) < last) return false;
    last = starts.integer(0);
  }
  return true;
}

void Writer::Impl::index_starts() {
  for (size_t i = 0; i < kTableCount; i++) {
    const TableInfo& info = tables()[i];
    if (buffers[i].count < kFewestIndexedRows || !has_column(info, "start_ns")) continue;
    if (ascends(info, buffers[i])) continue;
    std::string sql = "CREATE INDEX IF NOT EXISTS ";
    sql.append(info.name).append("_start ON ").append(info.name).append("(start_ns)");
    database.run(sql);
  }
}

void Writer::Impl::note_kernel(const Op& op) {
  if (op.kind != kKernel || op.name_id >= strings.size()) return;
  if (op.name_id >= is_kernel_name.size()) is_kernel_name.resize(strings.size());
  is_kernel_name[op.name_id] = true;
}

Writer::Writer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Writer::Writer(Writer&&) noexcept = default;
Writer& Writer::operator=(Writer&&) noexcept = default;
Writer::~Writer() = default;

Writer Writer::create(const std::filesystem::path& file, Options options) {
  create_file(file, options.overwrite);
  try {
    auto impl = std::make_unique<Impl>(file);
    impl->database.run("PRAGMA page_size=" + std::to_string(kPageBytes));
    impl->begin_recording(options.read_meanwhile);
    impl->database.run("BEGIN; PRAGMA application_id=" + std::to_string(kApplicationId) +
                       "; PRAGMA user_version=" + std::to_string(kFormatVersion) + ";\n" +
                       std::string(schema_sql()) + std::string(nsys_views_sql()) +
                       // No reader may find the tables and take them for a whole trace.
                       "INSERT INTO meta VALUES('" + kFinished + "', 0); COMMIT");
    Writer writer(std::move(impl));
    auto now = std::chrono::system_clock::now().time_since_epoch();
    writer.set_meta(kFormat, kFormatVersion);
    writer.set_meta("producer", "streamscope " STREAMSCOPE_VERSION);
    writer.set_meta("trace_start_realtime_ns", std::chrono::nanoseconds(now).count());
    writer.set_meta(kComplete, 0);
    writer.set_meta(kFinished, 0);
    writer.flush();
    return writer;
  } catch (...) {
    for (const char* suffix : {"", "-wal", "-journal", "-shm"})
      unlink((file.string() + suffix).c_str());
    throw;
  }
}

Writer Writer::open_derived(const std::filesystem::path& file) {
  // Others may read the file through its log; then the change goes through the log in one step,
  // too.
  const bool plain = fold_wal(file);
  auto impl = plain ? std::make_unique<Impl>(file, std::make_unique<TraceChange>(file))
                    : std::make_unique<Impl>(file);
  impl->expect_harmless();
  impl->load_existing();
  if (impl->meta[kFinished].first != "1") {
    throw Error(file, "is not finished: it is being recorded, or its recorder was killed",
                "wait for the end, or run `streamscope info` on it");
  }
  impl->derived = true;
  impl->own_duration = false;
  return Writer(std::move(impl));
}

Writer Writer::resume(const std::filesystem::path& file) {
  auto impl = std::make_unique<Impl>(file);
  impl->expect_harmless();
  impl->begin_recording(true);
  impl->load_existing();
  impl->stores_kernel_names =
      impl->database.integer("SELECT count(*) FROM pragma_table_info('kernel_name')") > 0;
  Statement names(impl->database, "SELECT DISTINCT name_id FROM op WHERE kind = 0");
  while (names.step()) {
    if (!names.is_null(0))
      impl->note_kernel({.kind = kKernel, .name_id = static_cast<Id>(names.integer(0))});
  }
  return Writer(std::move(impl));
}

template <class Row>
Id Writer::append(const Row& given) {
  TableBuffer& buffer = impl_->table(table_index<Row>());
  Row row = given;
  check_row(buffer.count, row, impl_->damage);
  append_row(buffer, row);
  if constexpr (requires { row.start_ns; }) {
    if (row.start_ns != kUnknownNs) {
      if (row.start_ns < buffer.last_start_ns) buffer.ascends = false;
      buffer.last_start_ns = row.start_ns;
      impl_->last_ns = std::max(impl_->last_ns, row.start_ns);
    }
  }
  if constexpr (requires { row.end_ns; }) impl_->last_ns = std::max(impl_->last_ns, row.end_ns);
  if constexpr (std::is_same_v<Row, Op>) impl_->note_kernel(row);
  return buffer.count++;
}

template <class Row>
void Writer::update(Id id, const Row& given) {
  TableBuffer& buffer = impl_->table(table_index<Row>());
  Row row = given;
  check_row(id, row, impl_->damage);
  if (id >= buffer.count) {
    throw Error(impl_->database.file(),
                "update of row " + std::to_string(id) + ", which was never appended");
  }
  if constexpr (requires { row.start_ns; }) buffer.look_again = true;
  if constexpr (std::is_same_v<Row, Op>) impl_->note_kernel(row);
  if constexpr (requires { row.end_ns; }) impl_->last_ns = std::max(impl_->last_ns, row.end_ns);
  if (id >= buffer.stored) {
    std::memcpy(buffer.bytes.data() + (id - buffer.stored) * sizeof row, &row, sizeof row);
    return;
  }
  const auto* bytes = reinterpret_cast<const unsigned char*>(&row);
  buffer.changed.insert(buffer.changed.end(), bytes, bytes + sizeof row);
  buffer.changed_ids.push_back(id);
}

template <class Row>
Id Writer::count() const {
  return impl_->table(table_index<Row>()).count;
}

template <class Row>
void Writer::clear() {
  impl_->table(table_index<Row>()) = {.clear = true};
}

#define STREAMSCOPE_INSTANTIATE(sql_name, Row, COLUMNS) \
  template Id Writer::append<Row>(const Row&);          \
  template void Writer::update<Row>(Id, const Row&);    \
  template Id Writer::count<Row>() const;               \
  template void Writer::clear<Row>();
STREAMSCOPE_TABLES(STREAMSCOPE_INSTANTIATE)
#undef STREAMSCOPE_INSTANTIATE

Id Writer::intern(std::string_view text) {
  if (auto known = impl_->ids.find(text); known != impl_->ids.end()) return known->second;
  return impl_->add_string(std::string(text));
}

Id Writer::reserve_string() {
  impl_->strings.emplace_back(kUnknownText);
  return static_cast<Id>(impl_->strings.size() - 1);
}

void Writer::set_string(Id id, std::string_view text) {
  std::string& stored = impl_->strings.at(id);
  if (stored == text) return;
  if (auto known = impl_->ids.find(stored); known != impl_->ids.end() && known->second == id) {
    impl_->ids.erase(known);
  }
  stored = text;
  impl_->ids.emplace(stored, id);
  if (id < impl_->stored_strings) impl_->changed_strings.push_back(id);
}

void Writer::set_meta(std::string_view key, std::string_view value) {
  impl_->meta[std::string(key)] = {std::string(value), false};
  impl_->meta_changed = true;
}

void Writer::set_meta(std::string_view key, int64_t value) {
  if (key == kDuration) impl_->own_duration = false;
  impl_->meta[std::string(key)] = {std::to_string(value), true};
  impl_->meta_changed = true;
}

void Writer::erase_meta(std::string_view key) {
  impl_->meta.erase(std::string(key));
  impl_->meta_erased.emplace_back(key);
  impl_->meta_changed = true;
}

// The impossible values of a recording, a recovery or an import, as losses. Derived rows are no
// evidence: in them such values are only unknown.
void Writer::store_damage() {
  if (impl_->derived) return;
  for (size_t i = 0; i < impl_->damage.tables().size(); ++i) {
    const Damage::OfTable& table = impl_->damage.tables()[i];
    const Loss row{.name_id = intern(kDamagedValues),
                   .severity = static_cast<Small>(loss_info(kDamagedValues).severity),
                   .count = table.values,
                   .detail_id = intern(describe(table))};
    if (i == impl_->damage_losses.size())
      impl_->damage_losses.push_back(append(row));
    else
      update(impl_->damage_losses[i], row);
  }
}

void Writer::flush() {
  store_damage();
  if (impl_->own_duration) {
    impl_->meta[kDuration] = {std::to_string(impl_->last_ns), true};
    impl_->meta_changed = true;
  }
  impl_->store(!impl_->derived);
}

size_t Writer::buffered_bytes() const {
  size_t bytes = 0;
  for (const TableBuffer& buffer : impl_->buffers) bytes += buffer.used + buffer.changed.size();
  return bytes;
}

void Writer::finish(bool complete) {
  if (!impl_->derived) {
    for (Id name = 0; impl_->stores_kernel_names && name < impl_->is_kernel_name.size(); name++) {
      if (!impl_->is_kernel_name[name]) continue;
      append(KernelName{name, intern(short_name(impl_->strings[name]).text)});
    }
    set_meta(kComplete, complete ? 1 : 0);
    set_meta(kFinished, 1);
    flush();
    impl_->index_starts();
    fold_wal(impl_->database);
  } else {
    impl_->store(true);
  }
  const std::unique_ptr<TraceChange> change = std::move(impl_->change);
  impl_.reset();  // closes the copy
  if (change) change->commit();
}

const std::filesystem::path& Writer::file() const { return impl_->database.file(); }

}  // namespace streamscope::trace
