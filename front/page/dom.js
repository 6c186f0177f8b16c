// The few things that every part of the page does with elements. Texts from outside only ever become
// text nodes.

export const $ = id => document.getElementById(id);

export function el(tag, properties = {}, ...children) {
    const element = Object.assign(document.createElement(tag), properties);
    element.append(...children);
    return element;
}

export function setText(element, text) {
    if (element.textContent !== text)
        element.textContent = text;
}

export function show(element, visible) {
    element.hidden = !visible;
}

// Is somebody about to press something in this list? Then its order must not change.
export const isBusy = list => list.matches(":hover") || list.querySelector(":focus-visible") !== null;

// Makes the list show the items: elements are used again, so the focus and the scroll position stay.
export function fill(list, items, make, update) {
    while (list.children.length > items.length)
        list.lastElementChild.remove();
    items.forEach((item, i) => {
        if (!list.children[i])
            list.append(make());
        update(list.children[i], item, i);
    });
}

// Keeps the order of what a busy list shows; items that are new wait.
export function keepOrder(before, after, nameOf) {
    const fresh = new Map(after.map(item => [nameOf(item), item]));
    return before.map(item => fresh.get(nameOf(item)) ?? item);
}

// Runs at most once per interval and never twice at a time. Slow answers make it rarer.
export function paced(run, every) {
    let timer = 0, running = false, again = false, next = 0;
    return function request() {
        if (running) {
            again = true;
            return;
        }
        if (timer)
            return;
        timer = setTimeout(async () => {
            timer = 0;
            running = true;
            const started = performance.now();
            try {
                await run();
            } finally {
                running = false;
                const took = performance.now() - started;
                next = performance.now() + Math.max(every, 4 * took);
                if (again) {
                    again = false;
                    request();
                }
            }
        }, Math.max(0, next - performance.now()));
    };
}

const SIGNS = { note: "●", warning: "◆", critical: "▲" };

export function setGrade(element, grade) {
    setText(element, SIGNS[grade] ? `${SIGNS[grade]} ${grade}` : "");
    element.dataset.grade = grade ?? "";
}
