// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// COORD_EXPORT marks what libcoord exports; everything else is hidden.
#pragma once

#define COORD_EXPORT __attribute__((visibility("default")))
