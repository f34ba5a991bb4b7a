/** A linked list whose items know their neighbours, so that any item can be removed in constant time. */

export interface Linked<T> {
  /** Only the list writes these three fields; an item is in at most one list. */
  list: LinkedList<T> | undefined;
  before: T | undefined;
  after: T | undefined;
}

export class LinkedList<T> {
  #first: (T & Linked<T>) | undefined;
  #last: (T & Linked<T>) | undefined;

  get first(): T | undefined {
    return this.#first;
  }

  /** Appends `item`; it must not be in a list. */
  push(item: T & Linked<T>): void {
    item.list = this;
    item.before = this.#last;
    if (this.#last) this.#last.after = item;
    else this.#first = item;
    this.#last = item;
  }

  /** Removes `item`, which must be in this list. */
  remove(item: T & Linked<T>): void {
    const { before, after } = item as {
      before: (T & Linked<T>) | undefined;
      after: (T & Linked<T>) | undefined;
    };
    if (before) before.after = after;
    else this.#first = after;
    if (after) after.before = before;
    else this.#last = before;
    item.list = item.before = item.after = undefined;
  }
}
