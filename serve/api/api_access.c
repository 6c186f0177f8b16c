/* The audit log. */
#include "api.h"

enum { AUDIT_ENTRIES_MAX = 10000, AUDIT_ENTRIES_INITIALLY = 100 };

bool api_audit(api_call *call, problem *why)
{
    uint64_t limit = AUDIT_ENTRIES_INITIALLY;
    if (!request_count(call->asked, "limit", AUDIT_ENTRIES_MAX, &limit, why))
        return false;
    audit_write(call->served->changes, access_patterns(call->asked), (size_t)limit);
    return true;
}
