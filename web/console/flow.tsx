/** Which installations import from which others: between landscapes, or within one. Values are never shown. */
import { graphlib, layout } from '@dagrejs/dagre';
import { useMemo } from 'preact/hooks';
import type { Flow, FlowNode } from '../../src/cli/console/wire.ts';
import { landscapePath } from './api.ts';
import { focusable } from './focus.ts';
import { counted, phaseText, symbols } from './format.ts';
import { useLoaded } from './load.ts';
import { Link, Note } from './parts.tsx';
import { landscapeUrl } from './addresses.ts';
import { navigate } from './route.ts';

interface FlowProps {
  /** A landscape; absent: between all landscapes. */
  readonly id?: string;
  /** Changes when the flow may have changed. */
  readonly version: unknown;
}

export function FlowView({ id, version }: FlowProps) {
  const path = id === undefined ? '/api/flow' : `${landscapePath(id)}/flow`;
  const { data, error } = useLoaded<Flow>(path, version);
  if (error !== '' && !data) return <Note>{error}</Note>;
  if (!data) return <Note>Loading …</Note>;
  const what = id === undefined ? 'landscape' : 'installation';
  if (data.nodes.length === 0) return <Note>No {what} imports what another one exports.</Note>;
  return (
    <div class="flow">
      <Picture flow={data} id={id} />
      <p class="foot">
        {data.unconnected > 0 && `Not shown: ${counted(data.unconnected, what)} without data flow. `}
        {data.omitted > 0 && `${counted(data.omitted, what)} more would not fit. `}
        Only names are shown, never values.
      </p>
      <Imports flow={data} />
    </div>
  );
}

const SIZE = { width: 210, height: 44 };
const LABEL = { width: 130, height: 16 };

interface Placed {
  readonly width: number;
  readonly height: number;
  readonly nodes: readonly { readonly node: FlowNode; readonly x: number; readonly y: number }[];
  readonly edges: readonly {
    readonly names: readonly string[];
    readonly points: readonly { readonly x: number; readonly y: number }[];
    readonly x: number;
    readonly y: number;
  }[];
}

/** Places nodes and edges from left to right, in the direction of the data. */
function placed({ nodes, edges }: Flow): Placed {
  const graph = new graphlib.Graph();
  graph.setGraph({ rankdir: 'LR', nodesep: 18, ranksep: 60, marginx: 12, marginy: 12 });
  graph.setDefaultEdgeLabel(() => ({}));
  for (const { id } of nodes) graph.setNode(id, { ...SIZE });
  for (const { from, to } of edges) graph.setEdge(from, to, { ...LABEL, labelpos: 'c' });
  layout(graph);
  const { width = 0, height = 0 } = graph.graph() as { width?: number; height?: number };
  return {
    width,
    height,
    nodes: nodes.map((node) => {
      const { x, y } = graph.node(node.id) as { x: number; y: number };
      return { node, x: x - SIZE.width / 2, y: y - SIZE.height / 2 };
    }),
    edges: edges.map(({ from, to, names }) => {
      const { points, x, y } = graph.edge(from, to) as {
        points: { x: number; y: number }[];
        x: number;
        y: number;
      };
      return { names, points, x, y };
    }),
  };
}

function Picture({ flow, id }: { readonly flow: Flow; readonly id: string | undefined }) {
  const shape = JSON.stringify([flow.nodes.map((node) => node.id), flow.edges]);
  const places = useMemo(() => placed(flow), [shape]);
  const nodes = new Map(flow.nodes.map((node) => [node.id, node]));
  return (
    <div
      class="picture"
      tabIndex={0}
      role="region"
      aria-label="Picture of the data flow; the table below has the same content"
    >
      <svg width={places.width} height={places.height} role="group" aria-label={pictureLabel(flow)}>
        <defs>
          <marker
            id="arrow"
            viewBox="0 0 8 8"
            refX="7"
            refY="4"
            markerWidth="7"
            markerHeight="7"
            orient="auto"
          >
            <path d="M0 0L8 4L0 8z" />
          </marker>
        </defs>
        {places.edges.map(({ points, names, x, y }, i) => (
          <g key={i} class="edge" aria-hidden="true">
            <title>{names.join('\n')}</title>
            <path d={curve(points)} marker-end="url(#arrow)" />
            <text x={x} y={y - 5} text-anchor="middle">
              {labelOf(names)}
            </text>
          </g>
        ))}
        {places.nodes.map(({ node, x, y }) => (
          <Box key={node.id} node={nodes.get(node.id) ?? node} x={x} y={y} id={id} />
        ))}
      </svg>
    </div>
  );
}

interface BoxProps {
  readonly node: FlowNode;
  readonly x: number;
  readonly y: number;
  readonly id: string | undefined;
}

function Box({ node, x, y, id }: BoxProps) {
  const href = urlOf(node, id);
  return (
    <a
      href={href}
      class={`node ${node.condition}`}
      onClick={(event: MouseEvent) => {
        if (event.metaKey || event.ctrlKey || event.shiftKey) return;
        event.preventDefault();
        navigate(href);
      }}
    >
      <title>{`${node.label}, ${phaseOf(node)}`}</title>
      <rect x={x} y={y} width={SIZE.width} height={SIZE.height} rx="5" />
      <text x={x + 12} y={y + 18} class="title">
        {cut(node.label, 28)}
      </text>
      <text x={x + 12} y={y + 34} class="phase">
        {symbols[node.condition]} {phaseOf(node)}
      </text>
    </a>
  );
}

const phaseOf = ({ phase }: FlowNode): string => phaseText({ phase, marks: [] });

const urlOf = (node: FlowNode, id: string | undefined): string =>
  id === undefined ? landscapeUrl(node.landscape) : landscapeUrl(id, 'tree', { part: node.id });

const cut = (text: string, length: number): string =>
  text.length <= length ? text : `${text.slice(0, length - 1)}…`;

const labelOf = (names: readonly string[]): string =>
  cut(names[0]?.replace(/^data\//, '') ?? '', 20) + (names.length > 1 ? ` +${names.length - 1}` : '');

const pictureLabel = ({ nodes, edges }: Flow): string =>
  `${counted(nodes.length, 'node')} and ${counted(edges.length, 'connection')}`;

/** A path through the points with rounded corners. */
function curve(points: readonly { readonly x: number; readonly y: number }[]): string {
  const [first, ...rest] = points;
  if (!first) return '';
  const last = rest.at(-1) ?? first;
  const steps = rest.slice(0, -1).map((point, i) => {
    const next = rest[i + 1] ?? point;
    return `Q${point.x} ${point.y} ${(point.x + next.x) / 2} ${(point.y + next.y) / 2}`;
  });
  return `M${first.x} ${first.y}${steps.join('')}L${last.x} ${last.y}`;
}

function Imports({ flow }: { readonly flow: Flow }) {
  const labels = new Map(flow.nodes.map(({ id, label }) => [id, label]));
  return (
    <table class="imports">
      <caption class="hidden">Data flow</caption>
      <thead>
        <tr>
          <th scope="col">From</th>
          <th scope="col">To</th>
          <th scope="col">Names</th>
        </tr>
      </thead>
      <tbody>
        {flow.edges.map(({ from, to, names }) => (
          <tr key={`${from} ${to}`}>
            <td>{labels.get(from)}</td>
            <td>{labels.get(to)}</td>
            <td class="mono">{names.join(', ')}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

export const FlowPage = ({ version }: { readonly version: unknown }) => (
  <main class="page">
    <div class="heading">
      <h1 {...focusable}>Data flow between landscapes</h1>
      <Link href="/">All landscapes</Link>
    </div>
    <FlowView version={version} />
  </main>
);
