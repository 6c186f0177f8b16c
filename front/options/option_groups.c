#include "option_groups.h"

const char *option_group_title(option_group group)
{
    static const char *const titles[GROUP_COUNT] = {
        [GROUP_INPUT] = "Input",           [GROUP_COLUMNS] = "Columns",   [GROUP_ALERTS] = "Alerts",
        [GROUP_OUTPUT] = "Output",         [GROUP_STATE] = "State",       [GROUP_KEYS] = "Keys",
        [GROUP_DETECTOR] = "Detector",     [GROUP_PARAMS] = "Parameters", [GROUP_STREAM] = "Stream",
        [GROUP_SERVICE] = "Service",       [GROUP_ACCESS] = "Access",     [GROUP_LIMITS] = "Limits",
        [GROUP_MONITORING] = "Monitoring", [GROUP_HELP] = "Help",
    };
    return titles[group];
}
