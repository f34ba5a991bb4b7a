/**
 * The cluster that an object on a target is in. Its own cluster, a viewer reads directly. For all others, the console
 * reads the credentials in the target with the rights of the viewer, who could use them without the console as well.
 */
import { validateTarget } from '../../../../deployers/sdk/target.ts';
import type { DeployItem } from '../../../api/kinds/deployitem.ts';
import type { Target } from '../../../api/kinds/target.ts';
import { targetKind } from '../../../api/landscaper-kinds.ts';
import { isObject, type View } from '../../../lib/objects.ts';
import type { Client } from '../../../runtime/types.ts';
import type { Node } from '../../tree/tree.ts';
import { Refused, type Viewer } from '../access.ts';

/**
 * @param item the deploy item of the object
 * @throws Refused if the console does not connect to the cluster; the errors of runtime/errors.ts and of targets
 */
export async function clusterOf(
  { client, targets }: Pick<Viewer, 'client' | 'targets'>,
  { namespace, object }: Node,
  signal: AbortSignal,
): Promise<Client> {
  const name = (object as View<DeployItem>).spec.target?.name;
  if (name === undefined) throw new Refused(404, 'the deploy item of this object has no target');
  const target = await client.get<Target>(targetKind, `${namespace}/${name}`, signal);
  if (isSelf(target)) return client;
  if (!targets)
    throw new Refused(
      403,
      `target ${name} is another cluster, or contains its own credentials, and this console uses no credentials of ` +
        'targets; an administrator can allow it with console.allowTargets, or run espalier console on your machine',
    );
  const content = await targets.resolve(target, signal);
  validateTarget(content, 'read pods');
  return (await content.kube()).client;
}

/** A target that refers to the cluster it is stored in. */
const isSelf = ({ spec: { config } }: View<Target>): boolean =>
  isObject(config) && isObject(config['selfConfig']) && config['kubeconfig'] === undefined;
