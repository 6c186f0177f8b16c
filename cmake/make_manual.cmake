# Lets the program print its manual pages and completions into FOLDER, laid out as they are installed under share/.

function(print_to path)
  execute_process(COMMAND ${PROGRAM} ${ARGN} OUTPUT_VARIABLE text RESULT_VARIABLE failure)
  if(failure)
    message(FATAL_ERROR "${PROGRAM} ${ARGN}: ${failure}")
  endif()
  file(WRITE ${FOLDER}/${path} "${text}")
  set(text "${text}" PARENT_SCOPE)
endfunction()

file(REMOVE_RECURSE ${FOLDER}) # a page of a command that was renamed would be installed
print_to(man/man1/oif.1 manual)
string(REGEX MATCHALL "Xr oif-[a-z-]+ 1" pages "${text}") # the page of oif names those of its commands
list(REMOVE_DUPLICATES pages)
foreach(page ${pages})
  string(REGEX REPLACE "Xr oif-([a-z-]+) 1" "\\1" command ${page})
  print_to(man/man1/oif-${command}.1 manual ${command})
endforeach()

print_to(bash-completion/completions/oif completions bash)
print_to(zsh/site-functions/_oif completions zsh)
print_to(fish/vendor_completions.d/oif.fish completions fish)

find_program(awk NAMES awk mawk gawk)
if(awk)
  file(MAKE_DIRECTORY ${FOLDER}/man/man3)
  execute_process(COMMAND ${awk} -v folder=${FOLDER}/man/man3 -v version=${VERSION} -f ${CMAKE_CURRENT_LIST_DIR}/header_manual.awk
                          ${CMAKE_CURRENT_LIST_DIR}/../include/oif.h COMMAND_ERROR_IS_FATAL ANY)
endif()
