/* Simulates a later version of oif. oif_jni.c is compiled with
 * -Doif_behavior_number=oif_later_behavior, so the library reports another behavior number. */
int oif_behavior_number(void);
int oif_later_behavior(void);

int oif_later_behavior(void)
{
    return oif_behavior_number() + 1;
}
