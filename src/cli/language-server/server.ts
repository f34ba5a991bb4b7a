/** A language server for files of landscapes: findings of the lint, completion and documentation of fields. */
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { Finding } from '../../blueprint/lint/finding.ts';
import type { Clock } from '../../lib/clock.ts';
import { ownField } from '../../lib/objects.ts';
import { endColumn } from '../terminal/print-findings.ts';
import { findingsFor } from './findings.ts';
import type { Message } from './messages.ts';
import { blockOf, documentAround, fieldAt, type Field } from './position.ts';
import {
  documentationOf,
  fieldsOf,
  innerDocument,
  schemaFor,
  schemasAt,
  valuesOf,
  type NamedSchema,
} from './schema.ts';
import type { Node } from '../schemas/editor-schema.ts';

interface ServerPorts {
  readonly send: (message: object) => void;
  readonly clock: Clock;
  readonly schemas: readonly NamedSchema[];
  readonly version: string;
}

/** After the last change, so that not every key that is pressed starts a lint. */
const PAUSE_MS = 200;
const SEVERITIES = { error: 1, warning: 2, info: 3 } as const;
const PROPERTY = 10;
const VALUE = 12;
const METHOD_NOT_FOUND = -32601;
const FULL_TEXT = 1;

const CAPABILITIES = {
  textDocumentSync: { openClose: true, change: FULL_TEXT },
  completionProvider: {},
  hoverProvider: true,
};

/** Where the user is in a document. */
interface Cursor extends Field {
  readonly schema: Node;
}

export class LanguageServer {
  readonly #ports: ServerPorts;
  /** By absolute path. */
  readonly #texts = new Map<string, string>();
  /** The names that the editor has for open files. */
  readonly #uris = new Map<string, string>();
  /** Files for which the editor shows findings, by the open file whose lint has found them. */
  readonly #shown = new Map<string, ReadonlySet<string>>();
  #cancel: () => void = () => undefined;
  readonly #pending = new Set<string>();

  constructor(ports: ServerPorts) {
    this.#ports = ports;
  }

  /** @returns whether the server has to end */
  receive({ id, method = '', params }: Message): boolean {
    if (method === 'exit') return true;
    if (id === undefined || id === null) this.#notified(method, params);
    else if (method !== '') this.#ports.send({ id, ...this.#answer(method, params) });
    return false;
  }

  #answer(method: string, params: unknown): object {
    switch (method) {
      case 'initialize':
        return {
          result: {
            capabilities: CAPABILITIES,
            serverInfo: { name: 'espalier', version: this.#ports.version },
          },
        };
      case 'shutdown':
        return { result: null };
      case 'textDocument/completion':
        return { result: this.#completions(params) };
      case 'textDocument/hover':
        return { result: this.#hover(params) };
      default:
        return { error: { code: METHOD_NOT_FOUND, message: `there is no method ${method}` } };
    }
  }

  #notified(method: string, params: unknown): void {
    const document = ownField(params, 'textDocument');
    const file = fileOf(document);
    if (file === undefined) return;
    switch (method) {
      case 'textDocument/didOpen':
        this.#uris.set(file, String(ownField(document, 'uri')));
        this.#changed(file, ownField(document, 'text'));
        break;
      case 'textDocument/didChange': {
        const changes = ownField(params, 'contentChanges');
        this.#changed(file, ownField(Array.isArray(changes) ? changes.at(-1) : undefined, 'text'));
        break;
      }
      case 'textDocument/didClose':
        this.#texts.delete(file);
        this.#publish(file, []);
        this.#uris.delete(file);
        this.#shown.delete(file);
        break;
    }
  }

  #changed(file: string, text: unknown): void {
    if (typeof text !== 'string') return;
    this.#texts.set(file, text);
    this.#pending.add(file);
    this.#cancel();
    const { clock } = this.#ports;
    this.#cancel = clock.at(clock.now() + PAUSE_MS, () => {
      const files = [...this.#pending];
      this.#pending.clear();
      for (const one of files) void this.#lint(one);
    });
  }

  async #lint(file: string): Promise<void> {
    const text = this.#texts.get(file);
    try {
      const findings = await findingsFor(file, this.#texts);
      // A later change has its own lint.
      if (text !== undefined && this.#texts.get(file) === text) this.#publish(file, findings);
    } catch (error) {
      const message = `${file} cannot be checked: ${(error as Error).message}`;
      this.#ports.send({ method: 'window/logMessage', params: { type: SEVERITIES.warning, message } });
    }
  }

  /** Findings of a blueprint can be in several files. */
  #publish(file: string, findings: readonly Finding[]): void {
    const found = new Set([file, ...findings.map(({ place }) => place.file)]);
    for (const one of new Set([...(this.#shown.get(file) ?? []), ...found]))
      this.#ports.send({
        method: 'textDocument/publishDiagnostics',
        params: {
          uri: this.#uris.get(one) ?? pathToFileURL(one).href,
          diagnostics: findings.filter(({ place }) => place.file === one).map(diagnosticOf),
        },
      });
    this.#shown.set(file, found);
  }

  #completions(params: unknown): readonly object[] {
    const cursor = this.#cursorAt(params);
    if (!cursor) return [];
    const { schema, parent, name, value } = cursor;
    if (value !== undefined)
      return valuesOf(schemasAt(schema, [...parent, name])).map((label) => ({ label, kind: VALUE }));
    return [...fieldsOf(schemasAt(schema, parent))].map(([label, node]) => ({
      label,
      kind: PROPERTY,
      insertText: `${label}: `,
      ...documented(schemasAt({ ...schema, ...node, definitions: schema['definitions'] }, [])),
    }));
  }

  #hover(params: unknown): object | null {
    const cursor = this.#cursorAt(params);
    if (!cursor || cursor.name === '') return null;
    const { schema, parent, name } = cursor;
    const text = documentationOf(schemasAt(schema, [...parent, name]));
    return text === undefined ? null : { contents: { kind: 'markdown', value: `**${name}**\n\n${text}` } };
  }

  #cursorAt(params: unknown): Cursor | undefined {
    const file = fileOf(ownField(params, 'textDocument'));
    const line = ownField(ownField(params, 'position'), 'line');
    const text = file === undefined ? undefined : this.#texts.get(file);
    if (file === undefined || text === undefined || typeof line !== 'number') return undefined;
    const lines = text.split(/\r?\n/);
    const { schemas } = this.#ports;
    const field = fieldAt(lines, line);
    const inner = innerDocument(field.parent, schemas, (name) => blockOf(lines, line, name));
    if (inner) return { ...field, schema: inner.schema, parent: inner.path };
    const schema = schemaFor(file, documentAround(lines, line), schemas);
    return schema && { ...field, schema };
  }
}

const documented = (nodes: readonly Node[]): object => {
  const value = documentationOf(nodes);
  return value === undefined ? {} : { documentation: { kind: 'markdown', value } };
};

/** Undefined for documents that are not files. */
function fileOf(document: unknown): string | undefined {
  const uri = ownField(document, 'uri');
  if (typeof uri !== 'string' || !uri.startsWith('file:')) return undefined;
  try {
    return fileURLToPath(uri);
  } catch {
    return undefined;
  }
}

function diagnosticOf({ place, level, message, rule }: Finding): object {
  const line = place.line - 1;
  return {
    range: {
      start: { line, character: place.column - 1 },
      end: { line, character: endColumn(place) - 1 },
    },
    severity: SEVERITIES[level],
    code: rule,
    source: 'espalier',
    message,
  };
}
