// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Symbols of loaded libraries, read from their own tables: what dlsym would find if no library
// wrapped it, or handed out another library in place of the one that was asked for.
//
// A sanitizer may ask before it has found the functions that it replaces, so none of libc's that
// one replaces is called.
#pragma once

#include <link.h>

#include <cstdint>

namespace streamscope::collect {

/// The tables of one loaded library. Valid as long as it is loaded.
struct Symbols {
  const ElfW(Sym) * symbols = nullptr;
  const char* names = nullptr;
  const uint32_t* hash = nullptr;  // DT_GNU_HASH
  ElfW(Addr) base = 0;
};

/// Of the library at `base` with this dynamic section, which ends with DT_NULL.
Symbols symbols_of(ElfW(Addr) base, const ElfW(Dyn) * dynamic);

/// Of the library that is loaded from a file whose name begins so; no tables if there is none.
Symbols symbols_of_file(const char* prefix);

/// The address of a symbol that the library defines, null if there is none.
void* find_symbol(const Symbols& table, const char* name);

}  // namespace streamscope::collect
