# Manual pages in section 3 from a header, which is written to be read: each group of its sections becomes a page,
# each function a page that is a link to its group's.
#
#   awk -v folder=man3 -v version=0.1.0 -f header_manual.awk oif.h

BEGIN {
    # sections whose titles begin with -> page
    page_of["Version"] = "oif_error"
    page_of["Status"] = "oif_error"
    page_of["Memory"] = "oif_allocator"
    page_of["Parameters"] = "oif_params"
    page_of["Detectors"] = "oif_detector"
    page_of["Pipelines"] = "oif_pipeline"
    page_of["Explanations"] = "oif_explain"
    page_of["Snapshots"] = "oif_snapshot"
    page_of["State"] = "oif_state_file"
    page_of["More"] = "oif_evicted"
    page_of["Incidents"] = "oif_incidents"
    about["oif_error"] = "what a call of liboif returns, and its version"
    about["oif_allocator"] = "where liboif gets its memory"
    about["oif_params"] = "choose an anomaly detector and its parameters"
    about["oif_detector"] = "learn rows of numbers and score how anomalous they are"
    about["oif_pipeline"] = "from rows of numbers to alerts, with a model for each key"
    about["oif_explain"] = "which columns make a row anomalous"
    about["oif_snapshot"] = "save and load detectors and pipelines"
    about["oif_state_file"] = "a file with a detector or pipeline that survives a crash"
    about["oif_evicted"] = "more keys than memory: keep models on disk"
    about["oif_incidents"] = "one incident instead of an alert for each key"
}

function escape(text) {
    gsub(/\\/, "\\e", text)
    return text ~ /^[.']/ ? "\\&" text : text
}

function put(line) { body[page] = body[page] line "\n" }

function literal(wanted) {
    if (wanted && !is_literal) put(".Bd -literal -compact")
    if (!wanted && is_literal) put(".Ed")
    is_literal = wanted
}

function comment_line(text) {
    if (text ~ /^ *$/) { if (!is_literal) put(".Pp"); else put(""); return }
    if (text ~ /^ *[-o] / || text ~ /^  / || text ~ /^OIF_E/ || text ~ /^others /) literal(1)
    else literal(0)
    put(escape(text))
}

function open_page(title,   first) {
    if (page != "") literal(0)
    split(title, first, /[ :]/)
    page = page_of[first[1]]
    if (page != "") put(".Ss " title)
}

/^\/\* ---- .* ---- \*\/$/ {
    title = $0
    gsub(/^\/\* ---- | ---- \*\/$/, "", title)
    open_page(title)
    next
}
page == "" { next }
/^#/ && !/^#define OIF_[A-Z_]+ / { next } # include guards and the like
/^}$/ { next }                            # of extern "C"
/^\/\*/ { in_comment = 1; if (was_code) { literal(0); put(".Pp") } was_code = 0 }
in_comment {
    text = $0
    ends = sub(/ *\*\/ *$/, "", text)
    sub(/^(\/\*| \*)( |$)/, "", text)
    comment_line(text)
    if (ends) in_comment = 0
    next
}
/^$/ { if (is_literal) put(""); next }
{
    text = $0
    gsub(/OIF_API |OIF_MUST_CHECK /, "", text)
    sub(/^         +/, "        ", text) # the rest of a prototype
    if (!was_code) { literal(0); put(".Pp") }
    literal(1)
    put(escape(text))
    was_code = 1
    if ($0 ~ /^OIF_API/ || $0 ~ /^oif_/)
        if (match(text, /oif_[a-z_]+\(/))
            function_page[substr(text, RSTART, RLENGTH - 1)] = page
}

END {
    literal(0)
    count = split("error allocator params detector pipeline explain snapshot state_file evicted incidents", names)
    for (i = 1; i <= count; i++) {
        name = "oif_" names[i]
        file = folder "/" name ".3"
        printf ".Dd $Mdocdate$\n.Dt %s 3\n.Os oif %s\n.Sh NAME\n.Nm %s\n.Nd %s\n", toupper(name), version, name, about[name] > file
        print ".Sh LIBRARY\nLink with -loif, or what\n.Ql pkg-config --libs oif\nprints." > file
        printf ".Sh SYNOPSIS\n.In oif.h\n.Sh DESCRIPTION\n%s.Sh SEE ALSO\n", body[name] > file
        for (j = 1; j <= count; j++)
            if (j != i) print ".Xr oif_" names[j] " 3 ," > file
        print ".Xr oif 1" > file
        close(file)
    }
    for (name in function_page)
        if (!(name in body)) {
            file = folder "/" name ".3"
            print ".so man3/" function_page[name] ".3" > file
            close(file)
        }
}
