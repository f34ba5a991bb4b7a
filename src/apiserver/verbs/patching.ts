/** PATCH: applies the patch to the live object and updates it. */
import type { Admission, Answer, Call, World } from '../api.ts';
import { applyConfiguration } from './applying.ts';
import { mediaType } from '../http/body.ts';
import type { Kind } from '../kinds/kinds.ts';
import { writeOptions } from '../http/options.ts';
import { APPLY, engine, shape } from './patch-engine.ts';
import { updateObject } from './update.ts';
import type { Writer } from './writer.ts';

interface Patcher {
  readonly world: World;
  readonly call: Call;
  readonly kind: Kind;
  readonly admission: Admission;
}

export async function patchObject(patcher: Patcher, subresource: string): Promise<Answer> {
  const { call, kind } = patcher;
  const type = mediaType(call);
  const options = writeOptions('PatchOptions', call.query, type === APPLY);
  const writer: Writer = { ...patcher, options };
  if (type === APPLY) return applyConfiguration(writer, subresource);
  const apply = engine(type, kind, call);
  return updateObject(writer, {
    isPut: false,
    subresource,
    mutate: (live) => shape(kind, call, options, apply(live), live),
  });
}
