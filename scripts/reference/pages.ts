import { configurationReference } from '../reference.ts'
import { annotationsReference } from './annotations.ts'
import { collectFacts } from './collect.ts'
import { commandsReference } from './commands.ts'
import { crdReference } from './crds.ts'
import { eventsReference } from './events.ts'
import { httpReference } from './http-api.ts'
import { metricsReference } from './metrics.ts'

/** Returns all pages of docs/reference that are generated from code, by file name. */
export async function referencePages(): Promise<Readonly<Record<string, string>>> {
  const facts = await collectFacts()
  return {
    'annotations.md': annotationsReference(),
    'commands.md': await commandsReference(),
    'configuration.md': configurationReference(),
    'crds.md': crdReference(),
    'events.md': eventsReference(),
    'http-api.md': httpReference(facts),
    'metrics.md': await metricsReference(facts),
  }
}
