// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Answers the writer's questions about a program that hangs (ring/control.h).
//
// In a hang any call of the driver may block, so nothing here runs on a thread of the program or on
// one that is needed: libcoord's own view, queries of events, queries of streams and the one forced
// flush run in this order, each with a time limit and on a thread of its own that may never return.
#pragma once

namespace streamscope::collect {

/// Checks for a new round of questions and continues the current one; returns immediately. Called
/// only by the thread that watches the control file, as are the others.
void answer_questions();
/// True while a round is in progress, which goes on in answer_questions(), every few milliseconds.
bool is_answering();

void forget_answers_after_fork();

}  // namespace streamscope::collect
