/**
 * Work of templates and schemas that is interrupted when it needs data from outside, and repeated when the data is
 * available.
 */
import { contentNeeded, retrying, type ComponentView } from '../components/view.ts';
import type { IssuedKubeconfigs } from './kubeconfigs/issued.ts';
import { kubeconfigNeeded } from './kubeconfigs/request.ts';

/** Where missing contents are requested. */
interface Suppliers {
  readonly component: ComponentView | undefined;
  readonly kubeconfigs?: IssuedKubeconfigs | undefined;
}

/**
 * Runs repeatable work again for each content and kubeconfig that it turns out to need.
 * @throws what the work throws; ComponentProblem, KubeconfigProblem if a retry may help
 */
export const withSupplies = <T>(
  { component, kubeconfigs }: Suppliers,
  work: () => T | Promise<T>,
): Promise<T> =>
  retrying(work, (error) => {
    const content = contentNeeded(error);
    const kubeconfig = kubeconfigNeeded(error);
    return (content && component?.fetch(content)) ?? (kubeconfig && kubeconfigs?.fetch(kubeconfig));
  });

export const isInterruption = (error: unknown): boolean =>
  contentNeeded(error) !== undefined || kubeconfigNeeded(error) !== undefined;
