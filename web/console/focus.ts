/** Where the focus goes when the page has changed, so that keyboards and screen readers continue there. */
import { useEffect, useRef } from 'preact/hooks';

/** The heading of a view can have the focus, but is not in the order of the Tab key. */
export const focusable = { tabIndex: -1 } as const;

const focusOn = (selector: string): void => document.querySelector<HTMLElement>(selector)?.focus();

export const focusTree = (): void => focusOn('[role=tree]');
export const focusDetails = (): void => focusOn('.details h2');

/** Whether the element with the focus was removed. */
const isLost = (): boolean => document.activeElement === null || document.activeElement === document.body;

/** Calls back after each change of the value, but not at first. */
function useChange(value: unknown, changed: () => void): void {
  const before = useRef(value);
  useEffect(() => {
    if (before.current === value) return;
    before.current = value;
    changed();
  }, [value]);
}

/** Moves the focus to an element of another view, so that a screen reader reads it. */
export const useFocusOnView = (selector: string, view: string): void =>
  useChange(view, () => focusOn(selector));

/** Moves the focus to an element if a change has removed the element that had it. */
export const useFocusAfterLoss = (selector: string, change: unknown): void =>
  useChange(change, () => {
    if (isLost()) focusOn(selector);
  });

/** Whether no element that the user chose has the focus. */
export const isFocusFree = (): boolean => isLost() || document.activeElement?.tagName === 'H1';
