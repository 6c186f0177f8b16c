// What the page asks the server: requests with the server's own words when one fails, and the
// stream of events with reconnection.

export class ServerError extends Error {
    constructor(status, body) {
        const error = body?.error ?? {};
        super(error.message || (status ? `the server answered with status ${status}` : "the server does not answer"));
        Object.assign(this, { status, line: error.line, column: error.column, remedy: error.remedy });
    }
}

// Without a name and password in the address of the page, since browsers refuse to fetch with them.
export const urlOf = path => new URL(`.${path}`, location.origin + location.pathname);

// A key may be longer than what a server takes as a query. Then it is sent as a form.
const QUERY_LIMIT = 8000;

function asForm(path, options) {
    const [place, query] = path.split("?");
    return [place, { method: "POST", ...options, body: new URLSearchParams(query) }];
}

export async function ask(path, options) {
    if (path.length > QUERY_LIMIT)
        [path, options] = asForm(path, options);
    let response;
    try {
        response = await fetch(urlOf(path), { cache: "no-store", ...options });
    } catch (error) {
        if (error.name === "AbortError")
            throw error;
        throw new ServerError(0);
    }
    const text = await response.text();
    let body = null;
    try {
        body = text ? JSON.parse(text) : null;
    } catch {
        body = { error: { message: text.slice(0, 300) } };
    }
    if (!response.ok)
        throw new ServerError(response.status, body);
    return body;
}

// Parameters that are null are left out.
export function path(name, rest = "", parameters = {}) {
    const given = Object.entries(parameters).filter(([, value]) => value != null && value !== "");
    const query = new URLSearchParams(given).toString();
    return `/api/v1/streams/${encodeURIComponent(name)}${rest}${query && "?" + query}`;
}

// ---- Events ----

const KINDS = ["episode", "alert", "silence", "incident", "stream", "lost"];

// The browser reconnects by itself after a broken connection but not after an answer such as 503,
// so that is done here. A hidden page gives its connection back: a browser has six per server.
export function listen({ onOpen, onDown, onEvent }) {
    let source = null, timer = 0, pause = 1000;

    function open() {
        clearTimeout(timer);
        source?.close();
        source = new EventSource(urlOf("/api/v1/events"));
        source.onopen = () => { pause = 1000; onOpen(); };
        source.onerror = () => {
            onDown();
            if (source.readyState !== EventSource.CLOSED)
                return;
            timer = setTimeout(open, pause * (0.5 + Math.random()));
            pause = Math.min(2 * pause, 30000);
        };
        for (const kind of KINDS)
            source.addEventListener(kind, event => onEvent(kind, JSON.parse(event.data)));
    }

    function followVisibility() {
        if (document.visibilityState === "visible")
            return open();
        clearTimeout(timer);
        source?.close();
    }

    document.addEventListener("visibilitychange", followVisibility);
    addEventListener("online", open);
    followVisibility();
}
