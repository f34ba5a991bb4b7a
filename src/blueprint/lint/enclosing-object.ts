/** The object that contains a blueprint: an Installation, or a template of one in its own file. */
import { installationTemplate, INSTALLATION_TEMPLATE_KIND } from '../../api/blueprint.ts';
import { installation, installationKind, type Installation } from '../../api/kinds/installation.ts';
import { refusalForJob } from '../../api/validation/index.ts';
import { isObject, ownField } from '../../lib/objects.ts';
import { invalidInstallation, shapeFindings } from './document.ts';
import type { Finding } from './finding.ts';
import type { Caller } from './subject.ts';
import type { Path, YamlText } from './yaml-text.ts';

interface EnclosingObject {
  /** Of the files within the object; undefined if it has no inline blueprint. */
  readonly filesystem: { readonly value: unknown; readonly document: YamlText } | undefined;
  /** For messages: `installation shop`. */
  readonly name: string;
  /** undefined if the object cannot be compared with its blueprint because it is invalid itself */
  readonly caller: Caller | undefined;
  readonly findings: readonly Finding[];
}

/** undefined if the object contains no blueprints */
export function enclosingObjectOf(document: YamlText, value: unknown): EnclosingObject | undefined {
  const kind = ownField(value, 'kind');
  const isTemplate = kind === INSTALLATION_TEMPLATE_KIND;
  if (!isObject(value) || !(isTemplate || kind === installationKind.kind)) return undefined;
  const path = isTemplate ? ['blueprint', 'filesystem'] : ['spec', 'blueprint', 'inline', 'filesystem'];
  const filesystem = path.reduce<unknown>((at, key) => ownField(at, key), value);
  const named = isTemplate ? value['name'] : ownField(value['metadata'], 'name');
  const name = `${isTemplate ? 'installation template' : 'installation'} ${typeof named === 'string' ? named : '(without name)'}`;
  const shape = shapeFindings(document, value, isTemplate ? installationTemplate : installation);
  const refusal = isTemplate ? undefined : refusalForJob('installations', value);
  const isSound = isTemplate ? installationTemplate.safeParse(value).success : refusal === undefined;
  return {
    name,
    filesystem: filesystem === undefined ? undefined : { value: filesystem, document: document.below(path) },
    caller: isSound ? callerFrom(document, value, name) : undefined,
    findings: [
      ...shape,
      // A wrong type is already reported, with a better position.
      ...(refusal !== undefined && shape.every(({ level }) => level !== 'error')
        ? [invalidInstallation(document.at(pathIn(refusal)), refusal)]
        : []),
    ],
  };
}

function callerFrom(document: YamlText, value: Readonly<Record<string, unknown>>, name: string): Caller {
  const isTemplate = value['kind'] === INSTALLATION_TEMPLATE_KIND;
  const spec = (isTemplate ? value : value['spec']) as Installation['spec'];
  return {
    ...spec,
    name,
    document: isTemplate ? document : document.below(['spec']),
    hasComponent: isTemplate ? undefined : spec.componentDescriptor !== undefined,
    targetTypeOf: () => undefined,
  };
}

/** The first field that an error message names: `spec.imports.data[0].name`. */
function pathIn(refusal: string): Path {
  const text = /^\[?((?:spec|metadata)[\w.[\]]*):/.exec(refusal)?.[1] ?? '';
  return [...text.matchAll(/(\w+)|\[(\d+)\]/g)].map(([word]) =>
    word.startsWith('[') ? Number(word.slice(1, -1)) : word,
  );
}
