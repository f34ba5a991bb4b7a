/** The parts of a pod that the kubelet of kubelet.ts uses. */

export interface Container {
  readonly name: string;
  readonly image: string;
  readonly restartPolicy?: string;
  readonly command?: readonly string[];
  readonly args?: readonly string[];
  readonly env?: readonly {
    readonly name: string;
    readonly value?: string;
    readonly valueFrom?: { readonly fieldRef: { readonly fieldPath: string } };
  }[];
  readonly volumeMounts?: readonly { readonly name: string; readonly mountPath: string }[];
}

interface Volume {
  readonly name: string;
  readonly secret?: { readonly secretName: string };
  readonly configMap?: { readonly name: string };
  readonly projected?: {
    readonly sources: readonly {
      readonly secret?: { readonly name: string };
      readonly configMap?: { readonly name: string };
    }[];
  };
}

export interface PodSpec {
  readonly volumes: readonly Volume[];
  readonly initContainers: readonly Container[];
  readonly containers: readonly Container[];
}
