/** Small components that several views use. */
import type { ComponentChildren } from 'preact';
import type { Condition } from '../../src/cli/console/wire.ts';
import { symbols } from './format.ts';
import { navigate } from './route.ts';

interface LinkProps {
  readonly href: string;
  readonly children: ComponentChildren;
  readonly class?: string;
  readonly current?: boolean;
  readonly tabIndex?: number;
}

/** A link within the console; with a modifier key, the browser opens it in another tab. */
export function Link({ href, children, current, ...rest }: LinkProps) {
  return (
    <a
      {...rest}
      href={href}
      {...(current && { 'aria-current': 'page' })}
      onClick={(event) => {
        if (event.metaKey || event.ctrlKey || event.shiftKey || event.button !== 0) return;
        event.preventDefault();
        navigate(href);
      }}
    >
      {children}
    </a>
  );
}

/** The symbol of a condition. Its words are next to it wherever it stands. */
export const Symbol = ({ condition }: { readonly condition: Condition | undefined }) => (
  <span class={`symbol ${condition ?? 'none'}`} aria-hidden="true">
    {condition === undefined ? '▫' : symbols[condition]}
  </span>
);

export const Note = ({ children }: { readonly children: ComponentChildren }) => (
  <p class="empty">{children}</p>
);
