/** Prints a graph for Graphviz (dot), Mermaid, or as JSON or YAML. Labels are escaped. Pure. */
import { printValue, type MachineFormat } from '../terminal/documents.ts';
import type { Condition } from '../tree/tree.ts';
import type { Graph, GraphNode } from './graph.ts';

export type GraphFormat = 'dot' | 'mermaid' | MachineFormat;

/** @returns lines, each with a line break */
export function graphText(graph: Graph, format: GraphFormat): string {
  switch (format) {
    case 'dot':
      return dotText(graph);
    case 'mermaid':
      return mermaidText(graph);
    case 'json':
    case 'yaml':
      return `${printValue(graph, format)}\n`;
  }
}

const colours: Readonly<Record<Condition, string>> = {
  succeeded: '#c8e6c9',
  failed: '#ffcdd2',
  running: '#fff9c4',
  waiting: '#eeeeee',
};

const labelLines = ({ label, phase }: GraphNode): readonly string[] => [label, phase || 'no job yet'];

const omittedText = ({ omitted }: Graph): string => `${String(omitted)} more objects are not shown`;

function dotText(graph: Graph): string {
  const lines = [
    'digraph landscape {',
    '  rankdir=LR;',
    '  node [shape=box, style="rounded,filled"];',
    ...graph.nodes.map(
      (node) =>
        `  ${dotQuoted(node.id)} [label=${dotQuoted(labelLines(node).join('\n'))}, fillcolor="${colours[node.condition]}"];`,
    ),
    ...graph.edges.map(({ from, to, kind, names }) => {
      const style = kind === 'data' ? `label=${dotQuoted(names.join('\n'))}` : 'style=dashed, arrowhead=none';
      return `  ${dotQuoted(from)} -> ${dotQuoted(to)} [${style}];`;
    }),
    ...(graph.omitted > 0 ? [`  "omitted" [label=${dotQuoted(omittedText(graph))}, style=dashed];`] : []),
    '}',
  ];
  return `${lines.join('\n')}\n`;
}

const dotQuoted = (text: string): string =>
  `"${text.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')}"`;

function mermaidText(graph: Graph): string {
  const ids = new Map(graph.nodes.map(({ id }, i) => [id, `n${String(i)}`]));
  const lines = [
    'flowchart LR',
    ...graph.nodes.map(
      (node) => `  ${ids.get(node.id) ?? ''}[${mermaidQuoted(labelLines(node))}]:::${node.condition}`,
    ),
    ...graph.edges.map(({ from, to, kind, names }) => {
      const arrow = kind === 'data' ? `-->|${mermaidQuoted(names)}|` : '-.-';
      return `  ${ids.get(from) ?? ''} ${arrow} ${ids.get(to) ?? ''}`;
    }),
    ...(graph.omitted > 0 ? [`  omitted[${mermaidQuoted([omittedText(graph)])}]`] : []),
    ...Object.entries(colours).map(([name, colour]) => `  classDef ${name} fill:${colour},color:#000`),
  ];
  return `${lines.join('\n')}\n`;
}

/** Mermaid knows no backslashes; special characters are entities such as #35;. */
const mermaidQuoted = (lines: readonly string[]): string =>
  `"${lines.map((line) => line.replaceAll(/[^\w ./:@,()-]/g, (char) => `#${String(char.codePointAt(0))};`)).join('<br/>')}"`;
