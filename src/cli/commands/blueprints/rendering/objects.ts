/** The rendering result as Kubernetes objects, as the controllers would create them. */
import { itemObject } from '../../../../../controllers/execution/items.ts';
import { executionObject } from '../../../../../controllers/installation/execution.ts';
import { annotations } from '../../../../api/labels.ts';
import { stateSecret } from '../../../../blueprint/state.ts';
import { goJson } from '../../../../lib/gojson.ts';
import { isObject, ownField, type Fields } from '../../../../lib/objects.ts';
import { MASK, type Mask } from './mask.ts';
import type { RenderedInstallation } from './render-tree.ts';

interface RenderedObject {
  /** Type and path of the object: `deploy item database/server`. */
  readonly title: string;
  readonly object: Fields;
}

/** Sub-installations, deploy items, state, exports; then the same for each rendered child. */
export function renderedObjects(
  rendered: RenderedInstallation,
  options: { readonly mask: Mask; readonly showSecrets: boolean },
): readonly RenderedObject[] {
  const { installation, children, items, states, exports, path } = rendered;
  const at = (name: string): string => (path === '' ? name : `${path}/${name}`);
  const one = (title: string, object: unknown): RenderedObject => ({
    title,
    object: shown(object as Fields, options),
  });
  const author = {
    self: executionObject(installation),
    now: '',
    clusterNames: new Map<string, string>(),
  };
  return [
    ...children.map(({ name, object }) => one(`sub-installation ${at(name)}`, object)),
    ...items.map((item) =>
      one(
        `deploy item ${at(item.name)}`,
        itemObject(author, item, (prefix) => prefix),
      ),
    ),
    ...states.map((state) => one(`state of ${at(state.secretName)}`, stateSecret(installation, state))),
    ...(typeof exports === 'string'
      ? []
      : exports.map((object) => one(`export of ${path === '' ? installation.metadata.name : path}`, object))),
    ...children.flatMap(({ inside }) => (typeof inside === 'string' ? [] : renderedObjects(inside, options))),
  ];
}

/** The object without values that only a cluster determines: uids of owners, generated name suffixes, times. */
function shown(
  object: Fields,
  { mask, showSecrets }: { readonly mask: Mask; readonly showSecrets: boolean },
): Fields {
  const { status: _status, ...rest } = object;
  const { ownerReferences: _owners, name, ...metadata } = isObject(rest['metadata']) ? rest['metadata'] : {};
  const notes = metadata['annotations'];
  const { [annotations.reconcileTime]: _time, ...kept } = isObject(notes) ? notes : {};
  const isGenerated = metadata['generateName'] !== undefined;
  const all = {
    ...rest,
    metadata: {
      ...(isGenerated ? {} : { name }),
      ...metadata,
      ...(isObject(notes) && { annotations: kept }),
    },
  };
  if (showSecrets) return all;
  const masked = mask.value(withoutSecrets(all)) as Fields;
  const isSame = goJson(masked) === goJson(all);
  return isSame ? masked : withoutHash(masked);
}

/** The hash of a short secret would reveal it to a brute-force attack. */
function withoutHash(object: Fields): Fields {
  const metadata = object['metadata'] as Fields;
  const notes = metadata['annotations'];
  if (ownField(notes, annotations.dataHash) === undefined) return object;
  const masked = { ...(notes as Fields), [annotations.dataHash]: MASK };
  return { ...object, metadata: { ...metadata, annotations: masked } };
}

/** The content of targets and secrets is removed, wherever it came from. */
function withoutSecrets(object: Fields): Fields {
  const spec = object['spec'];
  if (object['kind'] === 'Target' && ownField(spec, 'config') !== undefined) {
    return { ...object, spec: { ...(spec as Fields), config: MASK } };
  }
  return object['kind'] === 'Secret' ? { ...object, data: MASK } : object;
}
