/** A list that renders only the rows in view, so that thousands of rows stay smooth. All rows have the same height. */
import type { ComponentChildren, HTMLAttributes } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';

/** Of a row with one line of text. */
export const ROW_HEIGHT = 30;
/** Rows above and below the visible ones. */
const MARGIN = 8;

/** Height that is drawn before that of the list is known. */
const FIRST_HEIGHT = 450;

interface VirtualProps {
  readonly count: number;
  readonly rowHeight: number;
  /** The row that keys move: its position, -1 for none, and its id. Another one is scrolled into view. */
  readonly active: { readonly index: number; readonly id: string };
  /** Where the list is scrolled to at first. */
  readonly startTop?: number | undefined;
  readonly onScroll?: (top: number) => void;
  readonly attributes: HTMLAttributes<HTMLDivElement>;
  readonly row: (index: number, style: Readonly<Record<string, string>>) => ComponentChildren;
}

export function Virtual({ count, rowHeight, active, startTop = 0, attributes, row, onScroll }: VirtualProps) {
  const box = useRef<HTMLDivElement>(null);
  const [top, setTop] = useState(startTop);
  const [height, setHeight] = useState<number>();
  const isPrinting = useIsPrinting();

  useLayoutEffect(() => {
    const element = box.current;
    if (!element) return undefined;
    // Called after the first layout; reading the height here would force one. The rows that become visible with it, and
    // those around them, are drawn in a task of their own.
    const observer = new ResizeObserver(() => setTimeout(() => setHeight(element.clientHeight)));
    observer.observe(element);
    if (startTop > 0) element.scrollTop = startTop;
    return () => observer.disconnect();
  }, []);

  // Not when the position of the same row changes: the user may look at other rows.
  useEffect(() => {
    const element = box.current;
    if (!element || active.index < 0) return;
    const start = active.index * rowHeight;
    if (start < element.scrollTop) element.scrollTop = start;
    else if (start + rowHeight > element.scrollTop + element.clientHeight)
      element.scrollTop = start + rowHeight - element.clientHeight;
  }, [active.id]);

  const margin = height === undefined ? 0 : MARGIN;
  const end = Math.ceil((top + (height ?? FIRST_HEIGHT)) / rowHeight);
  const first = isPrinting ? 0 : Math.max(0, Math.floor(top / rowHeight) - margin);
  const last = isPrinting ? count : Math.min(count, end + margin);
  const rows: ComponentChildren[] = [];
  for (let i = first; i < last; i++)
    rows.push(row(i, { transform: `translateY(${i * rowHeight}px)`, height: `${rowHeight}px` }));
  return (
    <div
      {...attributes}
      ref={box}
      class="virtual"
      onScroll={({ currentTarget: { scrollTop } }) => {
        setTop(scrollTop);
        onScroll?.(scrollTop);
      }}
    >
      <div role="presentation" class="virtual-space" style={{ height: `${count * rowHeight}px` }}>
        {rows}
      </div>
    </div>
  );
}

/** All rows are drawn for paper. */
function useIsPrinting(): boolean {
  const [isPrinting, setPrinting] = useState(false);
  useEffect(() => {
    const start = (): void => setPrinting(true);
    const end = (): void => setPrinting(false);
    addEventListener('beforeprint', start);
    addEventListener('afterprint', end);
    return () => {
      removeEventListener('beforeprint', start);
      removeEventListener('afterprint', end);
    };
  }, []);
  return isPrinting;
}
