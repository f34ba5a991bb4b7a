/** What the next job would change, and which live objects differ from their deploy items. */
import { useMemo, useRef, useState } from 'preact/hooks';
import type { Plan, PlannedField, PlannedItem, PlannedObject } from '../../src/cli/console/wire.ts';
import { lineDiff } from '../../src/cli/commands/plan/line-diff.ts';
import { landscapeUrl } from './addresses.ts';
import { landscapePath } from './api.ts';
import { counted } from './format.ts';
import { useLoaded } from './load.ts';
import { Note } from './parts.tsx';
import { groupsOf, isUnchanged, summaryWords, valueText } from './planned.ts';
import { navigate } from './route.ts';

interface ChangesProps {
  readonly id: string;
  readonly query: URLSearchParams;
  /** Changes with the landscape. */
  readonly version: unknown;
}

export function ChangesView({ id, query, version }: ChangesProps) {
  const [attempt, setAttempt] = useState(0);
  const { data, error, isLoading } = useLoaded<Plan>(`${landscapePath(id)}/changes`, attempt);
  const seen = useRef({ attempt, version });
  if (seen.current.attempt !== attempt || !data) seen.current = { attempt, version };
  const isOld = data !== undefined && seen.current.version !== version;
  const showsAll = query.get('show') === 'all';
  return (
    <div class="changes" aria-busy={isLoading}>
      <div class="toolbar">
        <button type="button" disabled={isLoading} onClick={() => setAttempt((before) => before + 1)}>
          {isLoading ? 'Planning …' : 'Plan again'}
        </button>
        <label class="check">
          <input
            type="checkbox"
            checked={showsAll}
            onChange={({ currentTarget }) =>
              navigate(landscapeUrl(id, 'changes', { show: currentTarget.checked ? 'all' : '' }), {
                replace: true,
              })
            }
          />{' '}
          Also unchanged objects
        </label>
        <span class="dim" aria-live="polite">
          {data ? summaryWords(data) : ''}
          {isOld && !isLoading ? ' · The landscape has changed since then.' : ''}
        </span>
      </div>
      {error !== '' && (
        <p role="alert" class="failed">
          {error}
        </p>
      )}
      {data ? (
        <PlanView plan={data} showsAll={showsAll} />
      ) : (
        error === '' && (
          <Note>
            Planning the next job of {id}: its templates are rendered, and compared with the objects on the
            targets. This changes nothing.
          </Note>
        )
      )}
    </div>
  );
}

function PlanView({ plan, showsAll }: { readonly plan: Plan; readonly showsAll: boolean }) {
  const { changed, drifted, skipped, unchanged } = useMemo(() => groupsOf(plan), [plan]);
  return (
    <>
      {plan.problems.map(({ path, message, isUnknown }) => (
        <p key={path} class={isUnknown ? 'running' : 'failed'}>
          Installation {path}: {message}
        </p>
      ))}
      <Group title="The next job would change" items={changed} showsAll={showsAll}>
        Deploy items that are new, changed or deleted since the last job, and their objects.
      </Group>
      <Group title="Live objects differ" items={drifted} showsAll={showsAll}>
        The deploy items are the same as in the last job, but their objects on the targets differ from the
        desired state. The next job would write this:
      </Group>
      <Group
        title="Live objects differ, and the next job will not correct them"
        items={skipped}
        showsAll={showsAll}
      >
        The deploy items are the same as in the last job, and updateOnChangeOnly is set, so the next job skips
        them. To write their objects again, change the deploy items, or remove updateOnChangeOnly.
      </Group>
      {[changed, drifted, skipped, plan.problems].every(({ length }) => length === 0) && (
        <Note>The next job would change nothing: all objects on the targets match their deploy items.</Note>
      )}
      {showsAll && (
        <Group title="Unchanged" items={unchanged} showsAll>
          Their objects on the targets match the deploy items.
        </Group>
      )}
    </>
  );
}

interface GroupProps {
  readonly title: string;
  readonly items: readonly PlannedItem[];
  readonly showsAll: boolean;
  readonly children: string;
}

function Group({ title, items, showsAll, children }: GroupProps) {
  if (items.length === 0) return null;
  return (
    <section aria-label={title}>
      <h2>{title}</h2>
      <p class="dim">{children}</p>
      {items.map((item) => (
        <Item key={item.path} item={item} showsAll={showsAll} />
      ))}
    </section>
  );
}

const states: Readonly<Record<PlannedItem['state'], string>> = {
  new: 'new',
  changed: 'its configuration changes',
  same: '',
  gone: 'deleted',
  idle: '',
};

/** More would make the page slow. */
const MAX_OBJECTS = 300;

function Item({ item, showsAll }: { readonly item: PlannedItem; readonly showsAll: boolean }) {
  const objects = item.objects.filter((object) => showsAll || !isUnchanged(object));
  const words = [item.target && `target ${item.target}`, states[item.state], item.note].filter(Boolean);
  return (
    <article>
      <h3>
        DeployItem {item.path} <span class="dim">{words.join(', ')}</span>
      </h3>
      {item.problem !== undefined && <p class="failed">{item.problem}</p>}
      <ul>
        {objects.slice(0, MAX_OBJECTS).map((object) => (
          <ObjectChange
            key={`${object.kind}/${object.namespace ?? ''}/${object.name}`}
            object={object}
            wordOf={item.state === 'idle' ? wordsOfSkipped : wordsOfJob}
          />
        ))}
      </ul>
      {objects.length > MAX_OBJECTS && (
        <p class="dim">and {counted(objects.length - MAX_OBJECTS, 'further object')}</p>
      )}
      {item.notes.map((note) => (
        <p key={note} class="running">
          {note}
        </p>
      ))}
    </article>
  );
}

type Words = Readonly<Record<PlannedObject['change'], readonly [className: string, word: string]>>;

const wordsOfJob: Words = {
  create: ['succeeded', 'create'],
  change: ['running', 'change'],
  delete: ['failed', 'delete'],
  unchanged: ['dim', 'unchanged'],
  kept: ['dim', 'kept'],
};

/** Of objects that the job does not touch. */
const wordsOfSkipped: Words = {
  ...wordsOfJob,
  create: ['running', 'missing'],
  change: ['running', 'differs'],
  delete: ['running', 'left over'],
};

interface ObjectProps {
  readonly object: PlannedObject;
  readonly wordOf: Words;
}

function ObjectChange({ object, wordOf }: ObjectProps) {
  const { change, kind, namespace, name, note, problem, fields = [] } = object;
  const [className, word] = wordOf[change];
  return (
    <li>
      <span class={`verb ${className}`}>{word}</span> {kind}{' '}
      {namespace === undefined ? name : `${namespace}/${name}`}{' '}
      {note !== undefined && <span class="dim">({note})</span>}
      {problem !== undefined && <p class="failed">{problem}</p>}
      {fields.length > 0 && (
        <table>
          <caption class="hidden">
            Fields of {kind} {name} that differ
          </caption>
          <thead class="hidden">
            <tr>
              <th scope="col">Field</th>
              <th scope="col">Live, and after the job</th>
            </tr>
          </thead>
          <tbody>
            {fields.map((field) => (
              <tr key={field.path}>
                <th scope="row" class="mono">
                  {field.path}
                </th>
                <td>
                  <Values field={field} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </li>
  );
}

/** Product of the numbers of lines that are compared; more would freeze the page. */
const MAX_CELLS = 250_000;

function Values({ field: { before, after } }: { readonly field: PlannedField }) {
  if (typeof before === 'string' && typeof after === 'string' && (before + after).includes('\n'))
    return (
      <pre>
        {lineDiff(before, after, MAX_CELLS).map(({ sign, line }, i) =>
          sign === '+' ? (
            <ins key={i}>+ {line}</ins>
          ) : sign === '-' ? (
            <del key={i}>- {line}</del>
          ) : (
            <span key={i}>{`  ${line}`}</span>
          ),
        )}
      </pre>
    );
  return (
    <pre>
      {before !== undefined && <del>{valueText(before)}</del>}
      {after !== undefined && <ins>{valueText(after)}</ins>}
    </pre>
  );
}
