/** Details of one object: why it is not ready, and facts about it. */
import type { Part, Why } from '../../src/cli/console/wire.ts';
import { focusable, useFocusAfterLoss } from './focus.ts';
import { phaseText, sinceText, timeText } from './format.ts';
import { useNow } from './now.ts';
import { landscapeUrl } from './addresses.ts';
import { Link, Symbol } from './parts.tsx';

interface DetailsProps {
  /** Of the landscape. */
  readonly id: string;
  readonly part: Part;
  readonly parts: ReadonlyMap<string, Part>;
  readonly onSelect: (id: string) => void;
  readonly onClose: () => void;
}

export function Details({ id, part, parts, onSelect, onClose }: DetailsProps) {
  useFocusAfterLoss('.details h2', part.id);
  return (
    <aside
      class="details"
      aria-label={`Details of ${part.title}`}
      onKeyDown={({ key }) => key === 'Escape' && onClose()}
    >
      <header>
        <h2 {...focusable}>
          <Symbol condition={part.condition} /> {part.title}
        </h2>
        <button type="button" class="plain" aria-label="Close the details" onClick={onClose}>
          ×
        </button>
      </header>
      <p class="dim">
        {part.kind === 'Object' ? 'Object on the target, from the provider status' : part.kind}{' '}
        <span class="mono">{part.namespace ? `${part.namespace}/${part.name}` : part.name}</span>
      </p>
      {part.kind === 'Object' ? null : <p class={part.condition ?? ''}>{phaseText(part)}</p>}
      {part.hasPods && (
        <p>
          <Link href={landscapeUrl(id, 'pods', { part: part.id })}>Pods, events and logs</Link>
        </p>
      )}
      {part.why && (
        <WhyPanel why={part.why} isFailed={part.condition === 'failed'} parts={parts} onSelect={onSelect} />
      )}
      {part.warnings.length > 0 && (
        <section>
          <h3>Warnings</h3>
          <ul>
            {part.warnings.map((warning) => (
              <li key={warning}>{warning}</li>
            ))}
          </ul>
        </section>
      )}
      <section>
        <h3>Facts</h3>
        <dl>
          {[...timesOf(part), ...part.facts.filter(([, value]) => value !== part.why?.summary)].flatMap(
            ([name, value]) => [<dt key={name}>{name}</dt>, <dd key={`${name} value`}>{value}</dd>],
          )}
        </dl>
      </section>
      {part.kind === 'Object' ? null : (
        <section>
          <h3>On the command line</h3>
          <pre>
            kubectl get {part.kind.toLowerCase()} {part.name} -n {part.namespace} -o yaml
          </pre>
        </section>
      )}
    </aside>
  );
}

const timesOf = ({ createdAt, startedAt, endedAt }: Part): Part['facts'] =>
  (
    [
      ['Created', createdAt],
      ['Job started', startedAt],
      ['Job ended', endedAt],
    ] as const
  ).flatMap(([name, time]) => (time === undefined ? [] : [[name, timeText(time)] as const]));

interface WhyProps {
  readonly why: Why;
  readonly isFailed: boolean;
  readonly parts: ReadonlyMap<string, Part>;
  readonly onSelect: (id: string) => void;
}

function WhyPanel({ why, isFailed, parts, onSelect }: WhyProps) {
  const now = useNow();
  return (
    <section class="why" aria-label="Why it is not ready">
      <h3>Why{why.since === undefined ? '' : ` · for ${sinceText(why.since, now)}`}</h3>
      <p class="summary">{why.summary}</p>
      {why.holders.length > 0 && (
        <>
          <h4>{isFailed ? 'Caused by' : 'Blocked by'}</h4>
          <ul>
            {why.holders.map(({ id, text }) => (
              <li key={id ?? text}>
                {id !== undefined && parts.has(id) ? (
                  <button type="button" class="link" onClick={() => onSelect(id)}>
                    {text}
                  </button>
                ) : (
                  text
                )}
              </li>
            ))}
          </ul>
        </>
      )}
      {why.next.length > 0 && (
        <>
          <h4>Next steps</h4>
          <ul>
            {why.next.map((step) => (
              <li key={step}>{step}</li>
            ))}
          </ul>
        </>
      )}
    </section>
  );
}
