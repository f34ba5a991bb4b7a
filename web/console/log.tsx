/** The log of a container: its last lines, and new ones while it is followed. */
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { LogLines } from '../../src/cli/console/wire.ts';
import { withQuery } from './addresses.ts';
import { get } from './api.ts';
import { appendedLog, emptyLog, type LogState } from './log-lines.ts';
import { Link } from './parts.tsx';

interface LogProps {
  /** Of the request, with object, pod and container. */
  readonly path: string;
  readonly title: string;
  /** Whether it is the log before the last restart of the container. */
  readonly isPrevious: boolean;
  /** Address of the log before or after the last restart; empty if there is none. */
  readonly otherUrl: string;
  readonly closeUrl: string;
}

const PERIOD_MS = 2_000;

export function Log({ path, title, isPrevious, otherUrl, closeUrl }: LogProps) {
  const [isFollowing, setFollowing] = useState(!isPrevious);
  const { lines, omitted, error, isLoaded } = useLog(path, { isPrevious, isFollowing });
  const box = useRef<HTMLPreElement>(null);
  const isAtEnd = useRef(true);
  useLayoutEffect(() => {
    if (box.current && isAtEnd.current) box.current.scrollTop = box.current.scrollHeight;
  }, [lines]);
  return (
    <section class="log" aria-label={`Log of ${title}`}>
      <header>
        <h2>
          {title}
          {isPrevious && <span class="dim"> before its last restart</span>}
        </h2>
        {!isPrevious && (
          <label class="check">
            <input
              type="checkbox"
              checked={isFollowing}
              onChange={({ currentTarget }) => setFollowing(currentTarget.checked)}
            />{' '}
            Follow
          </label>
        )}
        {otherUrl !== '' && (
          <Link href={otherUrl}>{isPrevious ? 'Current log' : 'Log before the last restart'}</Link>
        )}
        <Link href={closeUrl} class="close">
          Close
          <span class="hidden"> the log</span>
        </Link>
      </header>
      {error !== '' && (
        <p role="alert" class="failed">
          {error}
        </p>
      )}
      <pre
        ref={box}
        tabIndex={0}
        aria-label={`Lines of ${title}`}
        onScroll={({ currentTarget: { scrollTop, clientHeight, scrollHeight } }) => {
          isAtEnd.current = scrollTop + clientHeight >= scrollHeight - 8;
        }}
      >
        {omitted && '… earlier lines are not shown\n'}
        {lines.join('\n')}
        {isLoaded && lines.length === 0 && error === '' && 'The log is empty.'}
      </pre>
    </section>
  );
}

interface LogOptions {
  readonly isPrevious: boolean;
  readonly isFollowing: boolean;
}

interface ShownLog extends LogState {
  readonly error: string;
  readonly isLoaded: boolean;
}

function useLog(path: string, { isPrevious, isFollowing }: LogOptions): ShownLog {
  const [state, setState] = useState<ShownLog>({ ...emptyLog, error: '', isLoaded: false });
  const last = useRef('');
  const hasRead = useRef(false);
  useEffect(() => {
    const ending = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const read = (): void => {
      const url = withQuery(path, { previous: isPrevious ? 'true' : '', after: last.current });
      get<LogLines>(url, ending.signal)
        .then((answer) => {
          hasRead.current = true;
          last.current = answer.last;
          setState((before) => ({ ...appendedLog(before, answer), error: '', isLoaded: true }));
          later(answer.isCut ? 0 : PERIOD_MS);
        })
        .catch((error: unknown) => {
          if (ending.signal.aborted) return;
          setState((before) => ({ ...before, error: (error as Error).message }));
          later(PERIOD_MS);
        });
    };
    const later = (ms: number): void => {
      if (isFollowing) timer = setTimeout(read, ms);
    };
    if (isFollowing || !hasRead.current) read();
    return () => {
      clearTimeout(timer);
      ending.abort();
    };
  }, [path, isPrevious, isFollowing]);
  return state;
}
