import { createHash } from 'node:crypto';
import type { Account, Pipeline, User } from '../service/account.ts';

/** A UUID derived from the name, so that every sandbox has the same ids. */
export function uuidOf(...parts: readonly string[]): string {
  const hex = createHash('sha256').update(JSON.stringify(parts)).digest('hex');
  const variant = ((parseInt(hex[16]!, 16) & 0x3) | 0x8).toString(16);
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}

/**
 * The account of a small company, with ambiguities found in real accounts: `Qualified` and `Won` are stages of two deal
 * pipelines, and there are two users named `Marco Rossi`, one without an e-mail address.
 */
export function defaultAccount(): Account {
  return {
    pipelines: [
      pipelineOf('Sales', 'DEAL', ['New', 'Qualified', 'Proposal', 'Negotiation', 'Won', 'Lost']),
      pipelineOf('Partners', 'DEAL', ['Contacted', 'Qualified', 'Signed', 'Won', 'Dropped']),
      pipelineOf('Inbound', 'LEAD', ['Fresh', 'Working', 'Converted', 'Discarded']),
    ],
    users: [
      userOf('Ada Lovelace', 'ada@example.test'),
      userOf('Grace Hopper', 'grace@example.test'),
      userOf('Marco Rossi', 'marco.rossi@example.test'),
      userOf('Marco Rossi', undefined),
      userOf('Chiara Bianchi', 'chiara@example.test'),
      userOf('Jürgen Groß', 'juergen@example.test'),
      userOf("Siobhán O'Brien", 'siobhan@example.test'),
      userOf('Sales Desk', 'sales@example.test'),
    ],
  };
}

/** Stages of deal pipelines, in the service's order. */
export function dealStages({
  pipelines,
}: Account): { readonly id: string; readonly name: string; readonly pipelineId: string }[] {
  return pipelines
    .filter(({ type }) => type === 'DEAL')
    .flatMap(({ id, stages }) => stages.map((stage) => ({ ...stage, pipelineId: id })));
}

function pipelineOf(name: string, type: Pipeline['type'], stages: readonly string[]): Pipeline {
  return {
    id: uuidOf('pipeline', name),
    name,
    type,
    stages: stages.map((stage) => ({ id: uuidOf('stage', name, stage), name: stage })),
  };
}

function userOf(name: string, email: string | undefined): User {
  const id = uuidOf('user', name, email ?? '');
  return { id, names: [name], ...(email === undefined ? {} : { email }) };
}
