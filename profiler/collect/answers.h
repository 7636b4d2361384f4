// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Answers the writer's questions about a program that stands still (ring/control.h).
//
// In a hang any call of the driver may be held up, so nothing here is called by a thread of the
// program or by one that somebody needs: libcoord's own view, queries of events, queries of streams
// and the one forced flush each have a thread of their own that may never come back, in this order,
// with a time limit.
#pragma once

namespace streamscope::collect {

/// Looks for a new round of questions and goes on with the one that is under way; returns at once.
/// The thread that watches the control file only, every few milliseconds.
void answer_questions();

void forget_answers_after_fork();

}  // namespace streamscope::collect
