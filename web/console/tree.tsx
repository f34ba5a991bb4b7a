/** The live tree of a landscape. Keys as in other trees: arrows move, open and close; Home and End jump. */
import { useMemo, useState } from 'preact/hooks';
import type { Part } from '../../src/cli/console/wire.ts';
import { jobDuration, phaseText, sinceText } from './format.ts';
import { useNow } from './now.ts';
import { focusDetails } from './focus.ts';
import { Note, Symbol } from './parts.tsx';
import { afterKey, treeRows, type TreeRow } from './tree-model.ts';
import { ROW_HEIGHT, Virtual } from './virtual.tsx';

interface TreeProps {
  readonly parts: ReadonlyMap<string, Part>;
  readonly selected: string;
  readonly onSelect: (id: string) => void;
  readonly onlyOpen: boolean;
}

export function Tree({ parts, selected, onSelect, onlyOpen }: TreeProps) {
  const now = useNow();
  const [toggled, setToggled] = useState<ReadonlySet<string>>(new Set());
  const rows = useMemo(() => treeRows(parts, { toggled, onlyOpen }), [parts, toggled, onlyOpen]);
  const active = rows.findIndex(({ part }) => part.id === selected);
  const toggle = (id: string): void => {
    const next = new Set(toggled);
    if (!next.delete(id)) next.add(id);
    setToggled(next);
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key === 'Enter') focusDetails();
    const { select, open } = afterKey(event.key, rows, active);
    if (select !== undefined) onSelect(select);
    if (open !== undefined) toggle(open);
    if (select !== undefined || open !== undefined) event.preventDefault();
  };
  if (rows.length === 0) return <Note>Every object is ready.</Note>;
  return (
    <div class="tree">
      <div class="row head" aria-hidden="true">
        <span>Object</span>
        <span>Phase</span>
        <span class="number">Job</span>
        <span class="number">Age</span>
        <span>Message</span>
      </div>
      <Virtual
        count={rows.length}
        rowHeight={ROW_HEIGHT}
        active={{ index: active, id: selected }}
        attributes={{
          tabIndex: 0,
          role: 'tree',
          'aria-label': 'Objects of the landscape',
          ...(active >= 0 && { 'aria-activedescendant': rowId(selected) }),
          onKeyDown,
        }}
        row={(index, style) => {
          const row = rows[index];
          return (
            row && (
              <TreeItem
                key={row.part.id}
                row={row}
                isSelected={index === active}
                now={now}
                style={style}
                onSelect={onSelect}
                onToggle={toggle}
              />
            )
          );
        }}
      />
    </div>
  );
}

interface TreeItemProps {
  readonly row: TreeRow;
  readonly isSelected: boolean;
  readonly now: number;
  readonly style: Readonly<Record<string, string>>;
  readonly onSelect: (id: string) => void;
  readonly onToggle: (id: string) => void;
}

function TreeItem({ row, isSelected, now, style, onSelect, onToggle }: TreeItemProps) {
  const { part, level, position, siblings, hasChildren, isOpen } = row;
  return (
    <div
      id={rowId(part.id)}
      class={isSelected ? 'row active' : 'row'}
      role="treeitem"
      aria-level={level}
      aria-posinset={position}
      aria-setsize={siblings}
      aria-selected={isSelected}
      {...(hasChildren && { 'aria-expanded': isOpen })}
      aria-label={labelOf(part)}
      style={style}
      onClick={() => onSelect(part.id)}
      onDblClick={() => hasChildren && onToggle(part.id)}
    >
      <span class="object" style={{ paddingLeft: `${(level - 1) * 18}px` }}>
        <span
          class="toggle"
          aria-hidden="true"
          onClick={(event) => {
            if (!hasChildren) return;
            event.stopPropagation();
            onToggle(part.id);
          }}
        >
          {hasChildren ? (isOpen ? '▾' : '▸') : ''}
        </span>
        <Symbol condition={part.condition} />
        <span class={part.kind === 'Installation' ? 'title strong' : 'title'}>{part.title}</span>
        <span class="kind">{part.kind === 'Object' ? part.namespace : part.kind}</span>
      </span>
      <span class={part.condition ?? 'dim'}>{part.kind === 'Object' ? part.phase : phaseText(part)}</span>
      <span class="dim number">{part.kind === 'Object' ? '' : jobDuration(part, now)}</span>
      <span class="dim number">{sinceText(part.createdAt, now)}</span>
      <span class="note" title={part.note}>
        {part.note}
      </span>
    </div>
  );
}

const rowId = (part: string): string => `part-${part}`;

const labelOf = (part: Part): string =>
  part.kind === 'Object'
    ? `${part.title} on the target`
    : [`${part.kind} ${part.title}`, phaseText(part), part.note].filter(Boolean).join(', ');
