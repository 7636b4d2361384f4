# SPDX-FileCopyrightText: 2026 StreamScope contributors
# SPDX-License-Identifier: Apache-2.0

# Every function of the driver and of CUPTI that the collector looks up takes no handle of the program, as listed here,
# or is in the table "Calls made with handles of the program" of docs/architecture.md.
#   cmake -DROOT=... -P tests/collect/check_handle_calls.cmake
cmake_minimum_required(VERSION 3.24)

set(without_handles
  cuptiGetVersion cuptiSubscribe cuptiSubscribe_v2 cuptiUnsubscribe cuptiEnableCallback cuptiGetResultString
  cuptiActivityRegisterCallbacks cuptiActivityEnable cuptiActivityDisable cuptiActivityFlushAll cuptiActivityGetNextRecord
  cuptiActivityGetNumDroppedRecords # queried without a context
  cuptiActivityRegisterTimestampCallback cuptiActivityEnableAllSyncRecords
  cuptiActivityEnableCudaEventDeviceTimestamps cuptiActivityEnableDriverApi cuptiSetThreadIdType
  cuDeviceGet cuDeviceGetCount cuDeviceGetName cuDeviceGetAttribute cuDeviceGetUuid cuDeviceTotalMem
  cuThreadExchangeStreamCaptureMode cuCtxGetCurrent cuCtxGetDevice
  # With handles and memory of the collector itself.
  cuCtxPopCurrent cuEventCreate cuStreamCreate cuStreamSynchronize cuModuleLoadData cuModuleGetFunction cuLaunchKernel cuMemAlloc
  cuMemHostAlloc cuMemcpyHtoDAsync cuMemcpyDtoHAsync cuMemsetD8Async)

file(READ ${ROOT}/profiler/collect/cupti/cupti_library.h header)
file(READ ${ROOT}/profiler/collect/process/driver.h driver)
string(REGEX MATCHALL "(X\\(|\\(\\*|void\\* )cu[A-Za-z_0-9]+" names "${header}${driver}")
list(TRANSFORM names REPLACE "^(X\\(|\\(\\*|void\\* )" "")
list(LENGTH names count)
if(count LESS 25)
  message(FATAL_ERROR "only ${count} functions were found in cupti_library.h and driver.h; does this script still know its lists?")
endif()

file(READ ${ROOT}/docs/architecture.md page)
string(REGEX MATCH "### Calls made with handles of the program.*\n### Flight recorder" table "${page}")
foreach(name ${names})
  if(NOT name IN_LIST without_handles AND NOT table MATCHES "`${name}`[^\n]*\\|[^\n]*\\|")
    message(SEND_ERROR "${name} is missing from the table \"Calls made with handles of the program\" of docs/architecture.md: "
      "say when it is called and why the handle is alive")
  endif()
endforeach()
message(STATUS "${count} functions are listed")
