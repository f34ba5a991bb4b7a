/** Programs of a node that the control plane of hack/envtest does not have: finds them, or builds them once. */
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { isExecutable } from '../executable.ts';
import { buildGoProgram, kubernetesProgram, type GoProgram } from '../go/program.ts';
import { folders, versions } from './settings.ts';

/** Holds the namespaces of a pod, and those of the node: ends on a signal, and reaps the processes that it inherits. */
const PAUSE = `package main

import (
	"os"
	"os/signal"
	"syscall"
)

func main() {
	signals := make(chan os.Signal, 16)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM, syscall.SIGCHLD)
	for each := range signals {
		if each != syscall.SIGCHLD {
			os.Exit(0)
		}
		for pid := 1; pid > 0; {
			pid, _ = syscall.Wait4(-1, nil, syscall.WNOHANG, nil)
		}
	}
}
`;

/** CoreDNS with the plugins that a cluster needs: all others would add the SDKs of several clouds. */
const COREDNS = `package main

import (
	"github.com/coredns/coredns/core/dnsserver"
	"github.com/coredns/coredns/coremain"
	_ "github.com/coredns/coredns/plugin/cache"
	_ "github.com/coredns/coredns/plugin/errors"
	_ "github.com/coredns/coredns/plugin/health"
	_ "github.com/coredns/coredns/plugin/kubernetes"
	_ "github.com/coredns/coredns/plugin/ready"
)

func main() {
	dnsserver.Directives = []string{"health", "ready", "errors", "cache", "kubernetes"}
	coremain.Run()
}
`;

/** Stands in for the servers of images that cannot be pulled: answers HTTP on PORT. */
const STAND_IN = `package main

import (
	"fmt"
	"net/http"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	// As the first process of a container it has no default actions for signals.
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGTERM)
	go func() {
		<-signals
		os.Exit(0)
	}()
	port := os.Getenv("PORT")
	if port == "" {
		port = "8080"
	}
	name, _ := os.Hostname()
	http.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) { fmt.Fprintln(w, name, r.URL.Path) })
	fmt.Println("listening on port", port)
	fmt.Println(http.ListenAndServe(":"+port, nil))
	os.Exit(1)
}
`;

/** The programs that consist of one file of ours. */
const SOURCES: Readonly<Record<string, string>> = { coredns: COREDNS, pause: PAUSE, 'stand-in': STAND_IN };

const kubernetes = (name: string) => (): GoProgram => kubernetesProgram(name, versions.kubernetes);

/** In the order in which they are built. */
const PROGRAMS = {
  'kube-controller-manager': kubernetes('kube-controller-manager'),
  'kube-scheduler': kubernetes('kube-scheduler'),
  'kube-proxy': kubernetes('kube-proxy'),
  kubelet: kubernetes('kubelet'),
  coredns: (): GoProgram => ({
    goPackage: '.',
    module: { name: 'github.com/coredns/coredns', version: `v${versions.coredns}` },
    source: COREDNS,
  }),
  pause: (): GoProgram => ({ goPackage: '.', source: PAUSE }),
  'stand-in': (): GoProgram => ({ goPackage: '.', source: STAND_IN }),
} as const;

export type ProgramName = keyof typeof PROGRAMS;

/** Programs of our own have a folder for each state of their source. */
export function programPath(name: ProgramName): string {
  const source = SOURCES[name];
  if (source === undefined) return join(folders.programs, name);
  return join(folders.programs, createHash('sha256').update(source).digest('hex').slice(0, 16), name);
}

/** Names of the programs that are not built yet. */
export const missingPrograms = (): ProgramName[] =>
  (Object.keys(PROGRAMS) as ProgramName[]).filter((name) => !isExecutable(programPath(name)));

/**
 * Builds the missing programs, which takes minutes and needs Go and its module proxy.
 * @throws GoUnavailable
 */
export function ensurePrograms(say: (line: string) => void): void {
  for (const name of missingPrograms()) {
    const started = Date.now();
    buildGoProgram(programPath(name), PROGRAMS[name]());
    say(`built ${name} in ${String(Math.round((Date.now() - started) / 1000))} s`);
  }
}
