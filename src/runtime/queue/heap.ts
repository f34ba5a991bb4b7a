/** A binary heap whose items know their position, so that any item can be removed. */

export interface HeapItem {
  /** Written by the heap only. */
  place: number;
}

export class Heap<T extends HeapItem> {
  readonly #items: T[] = [];
  readonly #before: (a: T, b: T) => boolean;

  /** @param before whether `a` leaves the heap before `b` */
  constructor(before: (a: T, b: T) => boolean) {
    this.#before = before;
  }

  peek(): T | undefined {
    return this.#items[0];
  }

  push(item: T): void {
    item.place = this.#items.length;
    this.#items.push(item);
    this.#up(item);
  }

  /** Removes `item`, which must be in this heap. */
  remove(item: T): void {
    const { place } = item;
    const last = this.#items.pop();
    if (!last || last === item) return;
    last.place = place;
    this.#items[place] = last;
    this.#up(last);
    this.#down(last);
  }

  #up(item: T): void {
    while (item.place > 0) {
      const parent = this.#items[(item.place - 1) >> 1] as T;
      if (!this.#before(item, parent)) return;
      this.#swap(item, parent);
    }
  }

  #down(item: T): void {
    for (;;) {
      const left = this.#items[2 * item.place + 1];
      if (!left) return;
      const right = this.#items[2 * item.place + 2];
      const child = right && this.#before(right, left) ? right : left;
      if (!this.#before(child, item)) return;
      this.#swap(child, item);
    }
  }

  #swap(a: T, b: T): void {
    const { place } = a;
    a.place = b.place;
    b.place = place;
    this.#items[a.place] = a;
    this.#items[b.place] = b;
  }
}
