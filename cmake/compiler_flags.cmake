# Flags for everything that is compiled: library, program, tests.

set(CMAKE_C_STANDARD 11)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_C_EXTENSIONS OFF)
set(CMAKE_C_VISIBILITY_PRESET hidden)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON) # for clang-tidy and editors

add_compile_options(-Wall -Wextra -Wconversion -Wsign-conversion -Wshadow -Wstrict-prototypes
                    -Wmissing-prototypes)
if(OIF_WERROR)
  add_compile_options(-Werror)
endif()

# Same bits everywhere: no fused multiply-add, no 80-bit registers. Never -ffast-math.
add_compile_options(-ffp-contract=off)
if(CMAKE_SIZEOF_VOID_P EQUAL 4 AND CMAKE_SYSTEM_PROCESSOR MATCHES "^(i.86|x86|x86_64|AMD64)$")
  add_compile_options(-msse2 -mfpmath=sse)
endif()

# Roots are instructions, not calls into libm that may set errno.
add_compile_options(-fno-math-errno)

# Lets the compiler inline public functions into each other although they are exported.
if(CMAKE_C_COMPILER_ID MATCHES "^(GNU|Clang)$")
  add_compile_options(-fno-semantic-interposition)
endif()

if(OIF_SANITIZE)
  set(sanitize -fsanitize=${OIF_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  add_compile_options(${sanitize})
  add_link_options(${sanitize})
endif()
if(OIF_COVERAGE)
  add_compile_options(--coverage "-DOIF_INLINE=static inline")
  add_link_options(--coverage)
endif()
