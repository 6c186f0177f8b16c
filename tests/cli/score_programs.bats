# Text of other programs, read as it is: vmstat, sar, mpstat, pidstat, iostat, sadf and JSON documents. The samples are
# cut from what sysstat 12.6 and procps 4.0 print.

load helper

# ---- vmstat ----

make_vmstat() {
    cat > vmstat.txt << 'END'
procs -----------memory---------- ---swap-- -----io---- -system-- ------cpu-----
 r  b   swpd   free   buff  cache   si   so    bi    bo   in   cs us sy id wa st
26  1      0 1940860 816596 20221060    0    0   181  5196  539 1487 68  8 24  0  0
22  0      0 1940860 816596 20221060    0    0    16   764  716 1236 90 11  0  0  0
procs -----------memory---------- ---swap-- -----io---- -system-- ------cpu-----
 r  b   swpd   free   buff  cache   si   so    bi    bo   in   cs us sy id wa st
23  0      0 1940860 816596 20221060    0    0     0   320  667 1172 89 11  0  0  0
END
}

@test "vmstat is recognised, and its headers come once" {
    make_vmstat
    oif score --fields score vmstat.txt
    exits 0
    equal "${#lines[@]}" 4
    equal "${lines[0]}" "r,b,swpd,free,buff,cache,si,so,bi,bo,in,cs,us,sy,id,wa,st,score"
    equal "${lines[1]}" "26,1,0,1940860,816596,20221060,0,0,181,5196,539,1487,68,8,24,0,0,0.5"
    equal "${lines[3]}" "23,0,0,1940860,816596,20221060,0,0,0,320,667,1172,89,11,0,0,0,0.5"
    oif score --fields score --columns r,us vmstat.txt vmstat.txt
    exits 0
    equal "${#lines[@]}" 7
    run --separate-stderr bash -c "tail -n +2 vmstat.txt | '$OIF' score --fields score"
    equal "$status ${#lines[@]}" "0 4"
}

@test "vmstat -t has a time, vmstat -w -a other columns" {
    cat > t.txt << 'END'
procs -----------memory---------- ---swap-- -----io---- -system-- ------cpu----- -----timestamp-----
 r  b   swpd   free   buff  cache   si   so    bi    bo   in   cs us sy id wa st                 UTC
25  0      0 1873920 816604 20222344    0    0   181  5196  539 1487 68  8 24  0  0 2026-11-18 02:57:30
29  0      0 1873920 816604 20222344    0    0     0  2120  648 1170 91  8  0  0  0 2026-11-18 02:57:31
END
    oif score --fields score -v t.txt
    equal "$status" 0
    equal "${lines[2]}" "2026-11-18T02:57:31Z,29,0,0,1873920,816604,20222344,0,0,0,2120,648,1170,91,8,0,0,0,0.5"
    contains "$stderr" "time"
    cat > wide.txt << 'END'
--procs-- -----------------------memory---------------------- ---swap-- -----io---- -system-- ----------cpu----------
   r    b         swpd         free        inact       active   si   so    bi    bo   in   cs  us  sy  id  wa  st  gu
  31    0            0      1842716      9418720     11880904    0    0   181  5196  539 1487  68   8  24   0   0   0
END
    oif score --fields score wide.txt
    exits 0
    equal "${lines[1]}" "31,0,0,1842716,9418720,11880904,0,0,181,5196,539,1487,68,8,24,0,0,0,0.5"
}

@test "vmstat is scored line by line as it arrives" {
    make_vmstat
    mkfifo pipe
    "$OIF" score --fields score < pipe > out.csv 3>&- &
    exec 7> pipe
    head -4 vmstat.txt >&7
    await_lines 3 out.csv
    equal "$(wc -l < out.csv)" 3
    exec 7>&-
    wait %1
}

@test "a ragged line, a changed header and a huge line of vmstat end the run with their line" {
    make_vmstat
    printf '1 2 3\n' >> vmstat.txt
    oif score --fields score vmstat.txt
    equal "$status" 1
    contains "$stderr" "oif: vmstat.txt:8:"
    contains "$stderr" "this row has 3 fields, the first line has 17; --on-bad-row skip leaves such rows out"
    oif score --fields score --on-bad-row skip vmstat.txt
    equal "$status ${#lines[@]}" "0 4"
    contains "$stderr" "vmstat.txt:8:"
    make_vmstat
    printf ' r  b   swpd   free  inact active   si   so    bi    bo   in   cs us sy id wa st\n' >> vmstat.txt
    oif score --fields score vmstat.txt
    exits 1 "oif: vmstat.txt:8: the columns change here: vmstat had other options before; read the two parts one by one (head -n 7)"
    make_vmstat
    head -c 20000000 /dev/zero >> vmstat.txt
    oif score --fields score vmstat.txt
    exits 1 "oif: vmstat.txt:8: a line of more than 16 MiB, too long for vmstat; is it another kind of file?"
    equal "${#lines[@]}" 4
    make_vmstat
    printf '\001\002\377\n' >> vmstat.txt
    oif score --fields score vmstat.txt
    equal "$status" 1
    contains "$stderr" "oif: vmstat.txt:8:"
}

@test "options about CSV read vmstat as they did, and --format reads what is not recognised" {
    make_vmstat
    oif score --csv sep=space --csv 'comment=procs' --fields score vmstat.txt
    exits 0
    equal "${lines[0]}" "$(sed -n 2p vmstat.txt) score"
    (echo "a remark"; cat vmstat.txt) > remark.txt
    oif score --format vmstat --csv skip=1 --fields score remark.txt
    exits 0
    equal "${#lines[@]}" 4
    printf 'Linux\n' > other.txt
    oif score --format sysstat other.txt
    exits 1 "oif: other.txt: it has no row of a table of sysstat; --format csv reads it as it is"
}

# ---- sysstat ----

make_sar() {
    printf 'Linux 6.1.0 (vm) \t11/18/26 \t_x86_64_\t(2 CPU)\n\n'
    cat << 'END'
23:59:28        CPU     %user     %nice   %system   %iowait    %steal     %idle
23:59:58        all     36.50     52.50     11.00      0.00      0.00      0.00
00:00:28        all     29.00     60.50     10.50      0.00      0.00      0.00

00:00:40     LINUX RESTART	(2 CPU)

00:00:58        CPU     %user     %nice   %system   %iowait    %steal     %idle
00:01:28        all     31.50     60.00      8.50      0.00      0.00      0.00
Average:        all     32.33     57.67     10.00      0.00      0.00      0.00
END
}

@test "sar has the date of its first line, also after midnight, and no averages" {
    make_sar > sar.txt
    oif score --fields score sar.txt
    exits 0 "oif: sar.txt: read as a table of sysstat, with a model for each CPU (--key CPU)"
    equal "$output" "time,CPU,%user,%nice,%system,%iowait,%steal,%idle,score
2026-11-18T23:59:58,all,36.50,52.50,11.00,0.00,0.00,0.00,0.5
2026-11-19T00:00:28,all,29.00,60.50,10.50,0.00,0.00,0.00,0.5
2026-11-19T00:01:28,all,31.50,60.00,8.50,0.00,0.00,0.00,0.5"
    oif score --strict --exclude CPU,time --fields score sar.txt
    exits 0
    oif score --key CPU --fields score sar.txt
    exits 0
}

@test "sar in other locales: AM and PM, decimal commas, dates with points and ISO" {
    printf 'Linux 6.1.0 (vm) \t12/31/2026 \t_x86_64_\t(2 CPU)\n\n11:59:58 PM  CPU  %%user  %%idle\n12:00:08 AM  all  1.5  98.5\n01:00:08 PM  all  1.5  98.5\n' > us.txt
    oif score --columns %user --fields score us.txt
    equal "${lines[1]}" "2027-01-01T00:00:08,all,1.5,98.5,0.5"
    equal "${lines[2]}" "2027-01-01T13:00:08,all,1.5,98.5,0.5"
    printf 'Linux 6.1.0 (vm) \t18.11.2026 \t_x86_64_\t(2 CPU)\n\n11:59:58  CPU  %%user  %%idle\n12:00:08  all  1,5  98,5\n' > de.txt
    oif score --columns %user --fields score de.txt
    equal "${lines[1]}" "2026-11-18T12:00:08,all,1.5,98.5,0.5"
    printf 'Linux 6.1.0 (vm) \t2026-11-18 \t_x86_64_\t(2 CPU)\n\n11:59:58  kbmemfree kbavail\n12:00:08  1 2\n' > iso.txt
    oif score --fields score iso.txt
    exits 0
    equal "$output" $'time,kbmemfree,kbavail,score\n2026-11-18T12:00:08,1,2,0.5'
}

@test "each interface, processor, process and device has its model" {
    banner=$'Linux 6.1.0 (vm) \t11/18/26 \t_x86_64_\t(2 CPU)\n'
    printf '%s\n02:57:31        IFACE   rxpck/s   txpck/s\n02:57:32           lo      0.00      0.00\n02:57:32         eth0      1.00      2.00\n' "$banner" > dev.txt
    oif score --fields score dev.txt
    exits 0 "oif: dev.txt: read as a table of sysstat, with a model for each IFACE (--key IFACE)"
    equal "${lines[2]}" "2026-11-18T02:57:32,eth0,1.00,2.00,0.5"
    printf '%s\n02:57:28      UID       PID    %%usr    %%CPU   CPU  Command\n02:57:29        0     22554    5.71    5.71     1  cc1 -o "a,b" x.c\n' "$banner" > pidstat.txt
    oif score --fields score pidstat.txt
    exits 0 "oif: pidstat.txt: read as a table of sysstat, with a model for each PID (--key PID)"
    equal "${lines[1]}" '2026-11-18T02:57:29,0,22554,5.71,5.71,1,"cc1 -o ""a,b"" x.c",0.5'
    printf '%s\n# Time        UID       PID    %%usr     RSS  Command\n02:57:31        0         1    0.00   25092  init\n' "$banner" > h.txt
    oif score --fields score h.txt
    equal "${lines[1]}" "2026-11-18T02:57:31,0,1,0.00,25092,init,0.5"
}

@test "of iostat the devices are read, and with iostat -c the processors" {
    banner=$'Linux 6.1.0 (vm) \t11/18/26 \t_x86_64_\t(2 CPU)\n'
    cpu=$'avg-cpu:  %user   %nice   %idle\n          51.80   16.18   23.51\n'
    printf '%s\n%s\nDevice  r/s  %%util\nvda  7.05  1.50\nvdb  1.00  0.10\n\n%s\nDevice  r/s  %%util\nvda  3.96  1.58\n' "$banner" "$cpu" "$cpu" > iostat.txt
    oif score --fields score iostat.txt
    exits 0 "oif: iostat.txt: read as a table of sysstat, with a model for each Device (--key Device)"
    equal "$output" $'Device,r/s,%util,score\nvda,7.05,1.50,0.5\nvdb,1.00,0.10,0.5\nvda,3.96,1.58,0.5'
    printf '%s\n%s\n%s\n' "$banner" "$cpu" "$cpu" > c.txt
    oif score --fields score c.txt
    exits 0
    equal "$output" $'%user,%nice,%idle,score\n51.80,16.18,23.51,0.5\n51.80,16.18,23.51,0.5'
    printf '%s\n%s' "$banner" "$cpu" > once.txt
    oif score --fields score once.txt
    exits 0
    equal "${#lines[@]}" 2
    printf '%s\n11/18/26 02:57:29\nDevice  tps\nvda  169.17\n\n11/18/26 02:57:30\nDevice  tps\nvda  15.84\n' "$banner" > t.txt
    oif score --fields score t.txt
    equal "$output" $'time,Device,tps,score\n2026-11-18T02:57:29,vda,169.17,0.5\n2026-11-18T02:57:30,vda,15.84,0.5'
}

@test "a second table is left out with a note, and read again where the first one returns" {
    make_sar > sar.txt
    printf '\n00:01:28       proc/s   cswch/s\n00:01:58         0.10    100.00\n\n00:01:28        CPU     %%user     %%nice   %%system   %%iowait    %%steal     %%idle\n00:01:58        all     31.50     60.00      8.50      0.00      0.00      1.00\n' >> sar.txt
    oif score --key CPU --fields score sar.txt
    exits 0 "oif: sar.txt:13: another table, 'proc/s ...', is left out; ask sar or pidstat for one table at a time (pidstat -h joins them)"
    equal "${lines[4]}" "2026-11-19T00:01:58,all,31.50,60.00,8.50,0.00,0.00,1.00,0.5"
}

@test "sadf -d loses the # of its header, its restarts and further tables" {
    cat > sadf.txt << 'END'
# hostname;interval;timestamp;IFACE;rxpck/s;txpck/s
vm;60;2026-11-18 02:57:29 UTC;lo;35.00;35.00
vm;-1;2026-11-18 02:58:00 UTC;LINUX-RESTART	(2 CPU)
vm;60;2026-11-18 02:58:29 UTC;lo;0.00;0.00
# hostname;interval;timestamp;proc/s;cswch/s
vm;60;2026-11-18 02:57:29 UTC;48.00;1219.00
END
    oif score --fields score sadf.txt
    exits 0 "oif: sadf.txt:5: another table begins here and is left out; sadf -d FILE -- with one option, such as -u or -n DEV, prints one table
oif: sadf.txt: read as sadf -d, with a model for each hostname,IFACE (--key hostname,IFACE)"
    equal "$output" "hostname;interval;timestamp;IFACE;rxpck/s;txpck/s;score
vm;60;2026-11-18 02:57:29 UTC;lo;35.00;35.00;0.5
vm;60;2026-11-18 02:58:29 UTC;lo;0.00;0.00;0.5"
}

@test "a state keeps the key that a format has" {
    printf 'Linux 6.1.0 (vm) \t11/18/26 \t_x86_64_\t(2 CPU)\n\nDevice  tps\nvda  169.17\n' > iostat.txt
    oif score --state s.oif iostat.txt
    equal "$status" 0
    oif score --state s.oif --fields score iostat.txt
    exits 0 "oif: s.oif: resumes after 1 rows"
    equal "${#lines[@]}" 2
    oif score --state s.oif --key tps iostat.txt
    equal "$status" 2
}

# ---- JSON documents ----

@test "the array of objects in a JSON document has the rows" {
    printf '{"meta":{"n":2,"tags":["a","b"]},"data":[{"x":1,"s":"]}\\\\"},{"x":2,"s":"{"}],"more":[{"y":1},{"y":2}]}' > doc.json
    oif score --exclude s --fields score doc.json
    exits 0
    equal "$output" '{"x":1,"s":"]}\\","oif":{"score":0.5}}
{"x":2,"s":"{","oif":{"score":0.5}}'
    printf '[\n  {\n    "x": 1\n  },\n  {"x": 2}\n]\n' > array.json
    oif score --fields score array.json
    exits 0
    equal "$output" '{"x": 1 ,"oif":{"score":0.5}}
{"x": 2,"oif":{"score":0.5}}'
    printf '[{"x":1},{"x":2}]' > line.json
    oif score --fields score line.json
    exits 0
    equal "${#lines[@]}" 2
    printf '{\n"x": 1\n}\n{\n"x": 2\n}\n' > objects.json
    oif score --fields score objects.json
    exits 0
    equal "${#lines[@]}" 2
}

@test "objects with arrays on several lines stay NDJSON" {
    printf '{"id":1,"items":[{"x":1},{"x":2}]}\n{"id":2,"items":[{"x":3},{"x":4}]}\n' > rows.ndjson
    oif score --fields score rows.ndjson
    exits 0
    equal "${lines[0]}" '{"id":1,"items":[{"x":1},{"x":2}],"oif":{"score":0.5}}'
    oif score --format json --fields score rows.ndjson
    exits 0
    equal "${#lines[@]}" 4
    oif score --format ndjson --fields score <<< '{"items":[{"x":1},{"x":2}]}'
    exits 0
    equal "${#lines[@]}" 1
}

@test "a first line of NDJSON that was cut off, and a very long one, stay lines" {
    for torn in '{"x":1,"y' '{"x":1,' '{"x"' '{'; do
        printf '%s\n{"x":1,"y":2}\n{"x":2,"y":2}\n' "$torn" > torn.ndjson
        oif score --on-bad-row skip --fields score torn.ndjson
        equal "$status ${#lines[@]}" "0 2"
        contains "$stderr" "torn.ndjson:1:"
    done
    python3 -c 'import json
row = {"items": [{"x": i % 7} for i in range(10000)]}
print(json.dumps(row)); print(json.dumps(row))' > long.ndjson
    oif score --columns items.0.x --fields score long.ndjson
    exits 0
    equal "${#lines[@]}" 2
    head -1 long.ndjson > one.json
    oif score --fields score one.json
    exits 0
    equal "${#lines[@]}" 10000
    printf '{"data": [\n{"x": 1},\n{"x": 2}]}\n' > opened.json
    oif score --fields score opened.json
    exits 0
    equal "${#lines[@]}" 2
}

@test "sadf -j and iostat -o JSON have a row for each interval" {
    cat > sadf.json << 'END'
{"sysstat": {
	"hosts": [
		{
			"nodename": "vm",
			"statistics": [
				{
					"timestamp": {"date": "2026-11-18", "time": "02:57:29", "utc": 1, "interval": 1},
					"cpu-load": [
						{"cpu": "all", "user": 36.32, "idle": 0.00}
					]
				},
				{
					"timestamp": {"date": "2026-11-18", "time": "02:57:30", "utc": 1, "interval": 1},
					"cpu-load": [
						{"cpu": "all", "user": 29.50, "idle": 0.00}
					]
				}
			]
		}
	]
}}
END
    oif score --fields score sadf.json
    equal "$status ${#lines[@]}" "0 2"
    equal "$(jq -c '[.time, ."cpu-load"[0].user, .oif.score]' <<< "${lines[1]}")" '["2026-11-18T02:57:30Z",29.5,0.5]'
    head -15 sadf.json > cut.json
    oif score --fields score cut.json
    equal "$status ${#lines[@]}" "1 1"
    contains "$stderr" "oif: cut.json:12: the JSON ends before the value that begins here is complete; the rows before it were read"
    head -11 sadf.json > interrupted.json
    oif score --fields score interrupted.json
    equal "$status ${#lines[@]}" "0 1"
}

@test "JSON that has no rows, or bad ones, is refused at its line" {
    printf '[\n{"x": 1},\n7]\n' > mixed.json
    oif score --fields score mixed.json
    exits 1 "oif: mixed.json:3: the rows must be objects, such as {\"x\": 1}, and this is not one; choose the rows with jq -c"
    printf '[\n{"x": 1},\n{"x": 1.2.3}]\n' > bad.json
    oif score --fields score bad.json
    equal "$status" 1
    contains "$stderr" "oif: bad.json:3:"
    printf '[\n{"x": 1}}\n' > brackets.json
    oif score --fields score brackets.json
    exits 1 "oif: brackets.json:2: a } without its {: this is not JSON"
    printf '[1,\n2]\n' > numbers.json
    oif score --format json numbers.json
    exits 1 "oif: numbers.json:2: the array that ends here has no objects, such as {\"x\": 1}, and these would be the rows"
    (printf '[{"x":"'; head -c 20000000 /dev/zero | tr '\0' a) > long.json
    oif score long.json
    exits 1 "oif: long.json:1: an object of more than 16 MiB without an array of objects in it; choose the rows with jq -c"
}
