/** Deployers that handle the same deploy items, and so interrupt each other. They report it in Events. Pure. */
import { someOf, type Findable, type Finding } from './findable.ts';

/** One finding for each pair: their Events differ only in the object. */
export function anotherDeployer({ rivalries = [] }: Findable): readonly Finding[] {
  const byMessage = new Map<string, string[]>();
  for (const { message = '', involvedObject, metadata } of rivalries) {
    const item = `${involvedObject.kind ?? ''} ${metadata.namespace ?? ''}/${involvedObject.name ?? ''}`;
    byMessage.set(message, [...new Set([...(byMessage.get(message) ?? []), item])]);
  }
  return [...byMessage].flatMap(([message, [object = '', ...affects]]) => {
    const [, key = ''] = object.split(' ');
    const [namespace = '', name = ''] = key.split('/');
    return {
      check: 'another-deployer',
      object,
      evidence: message + (affects.length > 0 ? `; also seen at ${someOf(affects)}` : ''),
      risk: 'none; the command only shows which deployer has the item now',
      command: `kubectl get deployitem ${name} -n ${namespace} -o jsonpath={.status.deployer}`,
      affects,
    };
  });
}
