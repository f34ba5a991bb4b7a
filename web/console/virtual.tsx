/** A list that renders only the rows in view, so that thousands of rows stay smooth. All rows have the same height. */
import type { ComponentChildren, HTMLAttributes } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';

const ROW_HEIGHT = 30;
/** Rows above and below the visible ones. */
const MARGIN = 8;

interface VirtualProps {
  readonly count: number;
  /** The row that keys move; it is scrolled into view when it changes. -1 for none. */
  readonly active: number;
  readonly attributes: HTMLAttributes<HTMLDivElement>;
  readonly row: (index: number, style: Readonly<Record<string, string>>) => ComponentChildren;
}

export function Virtual({ count, active, attributes, row }: VirtualProps) {
  const box = useRef<HTMLDivElement>(null);
  const [top, setTop] = useState(0);
  const [height, setHeight] = useState(600);

  useLayoutEffect(() => {
    const element = box.current;
    if (!element) return undefined;
    const observer = new ResizeObserver(() => setHeight(element.clientHeight));
    observer.observe(element);
    setHeight(element.clientHeight);
    return () => observer.disconnect();
  }, []);

  useEffect(() => {
    const element = box.current;
    if (!element || active < 0) return;
    const start = active * ROW_HEIGHT;
    if (start < element.scrollTop) element.scrollTop = start;
    else if (start + ROW_HEIGHT > element.scrollTop + element.clientHeight)
      element.scrollTop = start + ROW_HEIGHT - element.clientHeight;
  }, [active]);

  const first = Math.max(0, Math.floor(top / ROW_HEIGHT) - MARGIN);
  const last = Math.min(count, Math.ceil((top + height) / ROW_HEIGHT) + MARGIN);
  const rows: ComponentChildren[] = [];
  for (let i = first; i < last; i++)
    rows.push(row(i, { transform: `translateY(${i * ROW_HEIGHT}px)`, height: `${ROW_HEIGHT}px` }));
  return (
    <div
      {...attributes}
      ref={box}
      class="virtual"
      onScroll={({ currentTarget }) => setTop(currentTarget.scrollTop)}
    >
      <div role="presentation" class="virtual-space" style={{ height: `${count * ROW_HEIGHT}px` }}>
        {rows}
      </div>
    </div>
  );
}
