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
  const missing = (action: Action): string =>
    rights?.[action] === true
      ? ''
      : error !== ''
        ? `The console cannot read your rights: ${error}`
        : `You may not ${action === 'delete' ? 'delete' : 'patch'} installations in namespace ${root.namespace}`;
  return (
    <div class="actions" role="group" aria-label="Actions">
      <span class="dim" aria-live="polite">
        {done}
      </span>
      {shownActions(root).map((action) => (
        <button
          key={action}
          type="button"
          disabled={missing(action) !== '' || (action === 'interrupt' && root.condition !== 'running')}
          title={missing(action)}
          onClick={() => setAsked(action)}
        >
          {titles[action]}
        </button>
      ))}
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
  const [error, setError] = useState('');
  const [isSending, setSending] = useState(false);
  const [typed, setTyped] = useState('');
  useEffect(() => dialog.current?.showModal(), []);
  const uid = root.facts.find(([name]) => name === 'UID')?.[1] ?? '';
  const isReady = !isSending && (action !== 'delete' || typed === root.name);
  const send = (): void => {
    if (!isReady) return;
    setSending(true);
    post(`${landscapePath(id)}/actions`, { action, uid })
      .then(() => onClose(results[action]))
      .catch((problem: unknown) => {
        setSending(false);
        setError((problem as Error).message);
      });
  };
  return (
    <dialog ref={dialog} aria-labelledby="question" onClose={() => onClose('')}>
      <h2 id="question">{questions[action](id)}</h2>
      {action === 'delete' ? <DeletionPreview id={id} /> : <p>{explanations[action]}</p>}
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

const questions: Readonly<Record<Action, (id: string) => string>> = {
  reconcile: (id) => `Start a new job of ${id}?`,
  interrupt: (id) => `End the running job of ${id}?`,
  suspend: (id) => `Suspend the jobs of ${id}?`,
  resume: (id) => `Resume the jobs of ${id}?`,
  delete: (id) => `Delete ${id}?`,
};

const explanations: Readonly<Record<Exclude<Action, 'delete'>, string>> = {
  reconcile: 'All parts of the landscape are checked, and those that changed are updated.',
  interrupt: 'Parts that still run fail; what they created so far remains.',
  suspend:
    'No job starts until you resume them. A running job continues to its end, and deletions still work.',
  resume: 'A job that was requested meanwhile starts now.',
};

const MAX_LISTED = 200;

function DeletionPreview({ id }: { readonly id: string }) {
  const { data, error } = useLoaded<Deletion>(`${landscapePath(id)}/deletion`);
  if (error !== '') return <p class="failed">{error}</p>;
  if (!data) return <p>Loading what would be deleted …</p>;
  const { parts, objects, importers } = data;
  const lines = [...objects, ...parts].slice(0, MAX_LISTED);
  const more = objects.length + parts.length - lines.length;
  return (
    <>
      {importers.length > 0 && (
        <p class="failed">Other landscapes import what it exports: {importers.join(', ')}.</p>
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
