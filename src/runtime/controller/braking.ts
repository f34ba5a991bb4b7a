/** The brake of a controller: delays reconciles during a fight, and reports the fight once. */
import type { Clock } from '../../lib/clock.ts';
import { Brake, type OwnWrite } from './brake.ts';
import { reportFight, type FightPorts } from './fight.ts';
import type { Key, Obj, View } from '../types.ts';

type BrakingPorts<P extends Obj> = Omit<FightPorts<P>, 'primary'> & { readonly clock: Clock };

export class Braking<P extends Obj> {
  readonly #brake = new Brake();
  readonly #ports: BrakingPorts<P>;

  constructor(ports: BrakingPorts<P>) {
    this.#ports = ports;
  }

  /** Milliseconds that the reconcile of a primary has to wait, or 0. */
  waitMs(key: Key, primary: View<P>): number {
    const ms = this.#brake.waitMs(key, primary, this.#ports.clock.now());
    const fight = ms > 0 ? this.#brake.toReport(key) : undefined;
    if (fight) void reportFight(fight, { ...this.#ports, primary });
    return ms;
  }

  /** Receives the writes of a reconcile. */
  observerOf(key: Key, primary: View<P>): (own: OwnWrite) => void {
    return (own) => {
      this.#brake.written(primary, key, own, this.#ports.clock.now());
    };
  }

  forget(key: Key): void {
    this.#brake.forget(key);
  }
}
