# Writes a page that loads nothing: OUTPUT is the frame, the first of FILES, with all styles in place of @STYLE@ and all scripts
# in place of @SCRIPT@. The frame's Content-Security-Policy names both by their hashes, @STYLE_HASH@ and @SCRIPT_HASH@, so no
# other script runs.
#
# Scripts are modules, each after those that it imports. Each becomes a function of its own, so their names do not meet:
#
#   import { draw } from "./chart.js";    const { draw } = modules["./chart.js"];
#   export function draw() {}             function draw() {}        and at its end    return { draw };

set(digits ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/)

# hash_base64(VARIABLE TEXT): the 32 bytes of SHA-256, three at a time, are four digits; of the last two it is three and a =
function(hash_base64 variable text)
  string(SHA256 hex "${text}")
  set(hash "")
  foreach(start RANGE 0 60 6)
    string(SUBSTRING "${hex}00" ${start} 6 three)
    foreach(shift 18 12 6 0)
      math(EXPR digit "(0x${three} >> ${shift}) & 63")
      string(SUBSTRING ${digits} ${digit} 1 digit)
      string(APPEND hash ${digit})
    endforeach()
  endforeach()
  string(REGEX REPLACE ".$" "=" hash ${hash})
  set(${variable} ${hash} PARENT_SCOPE)
endfunction()

set(STYLE "\n")
set(SCRIPT "\n\"use strict\";\nconst modules = {};\n")
list(POP_FRONT FILES frame)
foreach(file ${FILES})
  get_filename_component(name ${file} NAME)
  file(READ ${file} text)
  if(name MATCHES "css$")
    string(APPEND STYLE "${text}")
    continue()
  endif()
  string(REGEX MATCHALL "export (const|function) [A-Za-z$]+" exported "${text}")
  list(TRANSFORM exported REPLACE ".* " "")
  list(JOIN exported ", " exported)
  string(REGEX REPLACE "export (const|function) " "\\1 " text "${text}")
  string(REGEX REPLACE "import (\\* as )?([^\n;]+) from (\"[^\n;]+\");" "const \\2 = modules[\\3];" text "${text}")
  if(text MATCHES "\n(export|import)[^\n]*")
    message(FATAL_ERROR "${file}: bundle.cmake does not understand ${CMAKE_MATCH_0}")
  endif()
  string(APPEND SCRIPT "\nmodules[\"./${name}\"] = (() => {\n${text}\nreturn { ${exported} };\n})();\n")
endforeach()
if("${STYLE}${SCRIPT}" MATCHES "</(script|style)")
  message(FATAL_ERROR "a style or a script would end early: it has ${CMAKE_MATCH_0}")
endif()
hash_base64(STYLE_HASH "${STYLE}")
hash_base64(SCRIPT_HASH "${SCRIPT}")
file(READ ${frame} page)
foreach(part STYLE_HASH SCRIPT_HASH STYLE SCRIPT)
  string(REPLACE "@${part}@" "${${part}}" page "${page}")
endforeach()
file(WRITE ${OUTPUT} "${page}")
