/** Actions on a landscape, each behind the user's rights and a confirmation. */
import { useEffect, useRef, useState } from 'preact/hooks';
import type { Action, Deletion, Part, Rights } from '../../src/cli/console/wire.ts';
import { landscapePath, post } from './api.ts';
import { counted } from './format.ts';
import { useLoaded } from './load.ts';

interface ActionsProps {
  readonly id: string;
  readonly root: Part;
}

const titles: Readonly<Record<Action, string>> = {
  reconcile: 'Reconcile …',
  interrupt: 'Interrupt …',
  suspend: 'Suspend …',
  resume: 'Resume …',
  delete: 'Delete …',
};

/** Only one of suspend and resume has an effect. */
const shownActions = ({ marks }: Part): readonly Action[] =>
  (Object.keys(titles) as Action[]).filter(
    (action) => action !== (marks.includes('suspended') ? 'suspend' : 'resume'),
  );

export function Actions({ id, root }: ActionsProps) {
  const { data: rights, error } = useLoaded<Rights>(`${landscapePath(id)}/rights`);
  const [asked, setAsked] = useState<Action>();
  const [done, setDone] = useState('');
  return (
    <div class="actions" role="group" aria-label="Actions">
      {shownActions(root).map((action) => {
        const obstacle = obstacleOf(action, root, rights, error);
        return (
          <button
            key={action === 'resume' ? 'suspend' : action}
            type="button"
            aria-disabled={obstacle !== ''}
            title={obstacle}
            onClick={() => (obstacle === '' ? setAsked(action) : setDone(obstacle))}
          >
            {titles[action]}
          </button>
        );
      })}
      <span class="dim" aria-live="polite">
        {done}
      </span>
      {asked && (
        <Confirmation
          id={id}
          root={root}
          action={asked}
          onClose={(result) => {
            setAsked(undefined);
            setDone(result);
          }}
        />
      )}
    </div>
  );
}

/** Why the user cannot request an action now; empty: nothing prevents it. */
function obstacleOf(action: Action, root: Part, rights: Rights | undefined, error: string): string {
  if (error !== '') return `The console cannot read your rights: ${error}`;
  if (!rights) return 'The console is reading your rights';
  if (!rights[action])
    return `You may not ${action === 'delete' ? 'delete' : 'patch'} installations in namespace ${root.namespace}`;
  return action === 'interrupt' && root.condition !== 'running' ? 'No job is running' : '';
}

interface ConfirmationProps extends ActionsProps {
  readonly action: Action;
  /** @param result what happened; empty if the user cancelled */
  readonly onClose: (result: string) => void;
}

const results: Readonly<Record<Action, string>> = {
  reconcile: 'Reconcile requested',
  interrupt: 'Interrupt requested',
  suspend: 'Jobs suspended',
  resume: 'Jobs resumed',
  delete: 'Deletion requested',
};

function Confirmation({ id, root, action, onClose }: ConfirmationProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const [typed, setTyped] = useState('');
  const [isPreviewed, setPreviewed] = useState(false);
  const result = useRef('');
  useEffect(() => dialog.current?.showModal(), []);
  const { error, isSending, request } = useRequest(id, root, action);
  const isReady = !isSending && (action !== 'delete' || (isPreviewed && typed === root.name));
  const send = (): void => {
    if (!isReady) return;
    request(() => {
      result.current = results[action];
      // The dialog returns the focus to the button that opened it.
      if (dialog.current) dialog.current.close();
      else onClose(result.current);
    });
  };
  return (
    <dialog ref={dialog} aria-labelledby="question" onClose={() => onClose(result.current)}>
      <h2 id="question">{questions[action](id)}</h2>
      {action === 'delete' ? (
        <DeletionPreview id={id} onShown={() => setPreviewed(true)} />
      ) : (
        <p>{explanations[action]}</p>
      )}
      {action === 'delete' && (
        <label class="typed">
          Type <strong>{root.name}</strong> to confirm:
          <input
            type="text"
            autocomplete="off"
            value={typed}
            onInput={({ currentTarget }) => setTyped(currentTarget.value)}
            onKeyDown={({ key }) => key === 'Enter' && send()}
          />
        </label>
      )}
      <p role="alert" class="failed">
        {error}
      </p>
      <div class="buttons">
        <button type="button" onClick={() => dialog.current?.close()}>
          Cancel
        </button>
        <button
          type="button"
          class={action === 'delete' ? 'danger' : 'primary'}
          disabled={!isReady}
          onClick={send}
        >
          {titles[action].replace(' …', '')}
        </button>
      </div>
    </dialog>
  );
}

interface Request {
  readonly error: string;
  readonly isSending: boolean;
  readonly request: (onDone: () => void) => void;
}

function useRequest(id: string, root: Part, action: Action): Request {
  const [error, setError] = useState('');
  const [isSending, setSending] = useState(false);
  const uid = root.facts.find(([name]) => name === 'UID')?.[1] ?? '';
  const request = (onDone: () => void): void => {
    setSending(true);
    post(`${landscapePath(id)}/actions`, { action, uid })
      .then(onDone)
      .catch((problem: unknown) => {
        setSending(false);
        setError((problem as Error).message);
      });
  };
  return { error, isSending, request };
}

const questions: Readonly<Record<Action, (id: string) => string>> = {
  reconcile: (id) => `Start a new job of ${id}?`,
  interrupt: (id) => `End the running job of ${id}?`,
  suspend: (id) => `Suspend the jobs of ${id}?`,
  resume: (id) => `Resume the jobs of ${id}?`,
  delete: (id) => `Delete ${id}?`,
};

const explanations: Readonly<Record<Exclude<Action, 'delete'>, string>> = {
  reconcile: 'The job checks all parts of the landscape and updates those that changed.',
  interrupt: 'Parts that are still running fail; the objects that they created remain.',
  suspend:
    'No job starts until you resume them. A running job continues to its end, and deletions still work.',
  resume: 'If a job was requested in the meantime, it starts now.',
};

const MAX_LISTED = 200;

interface PreviewProps {
  readonly id: string;
  readonly onShown: () => void;
}

function DeletionPreview({ id, onShown }: PreviewProps) {
  const { data, error } = useLoaded<Deletion>(`${landscapePath(id)}/deletion`);
  useEffect(() => {
    if (data) onShown();
  }, [data]);
  if (error !== '') return <p class="failed">{error}</p>;
  if (!data) return <p>Loading the objects to be deleted …</p>;
  const { parts, objects, importers } = data;
  const lines = [...objects, ...parts].slice(0, MAX_LISTED);
  const more = objects.length + parts.length - lines.length;
  return (
    <>
      {importers.length > 0 && (
        <p class="failed">Other landscapes import its exports: {importers.join(', ')}.</p>
      )}
      <p>
        This deletes {counted(objects.length, 'object')} on targets, and {counted(parts.length, 'object')} of
        Espalier:
      </p>
      <ul class="preview" tabIndex={0} aria-label="What is deleted">
        {lines.map(({ kind, name }, i) => (
          <li key={i}>
            <span class="dim">{kind}</span> {name}
          </li>
        ))}
        {more > 0 && <li class="dim">and {more} more</li>}
      </ul>
    </>
  );
}
