import { seededRandom } from '@tenure/kube/testing'
import type { JsonObject } from '@tenure/kube/model'
import type { DatabaseConfig } from '../config/database-config.ts'
import { readDatabaseConfig } from '../config/read-config.ts'
import { ENGINES } from '../engines/table.ts'
import { credentialsOf } from './credentials.ts'
import { databaseObjects, type DatabaseObjects } from './database-objects.ts'

/** The config of a row, which must be valid. */
export function configFor(type: string, config: JsonObject = {}): DatabaseConfig {
  const read = readDatabaseConfig({ type, config })
  if ('refused' in read) throw new Error(read.refused)
  return read.config
}

/** The objects of a row named `shop` with id 42 in the namespace `nest-team-7`. */
export function objectsFor(type: string, values: JsonObject = {}): DatabaseObjects {
  const config = configFor(type, values)
  const credentials = credentialsOf(ENGINES[config.engine], undefined, seededRandom())
  return databaseObjects({ name: 'shop', namespace: 'nest-team-7', resourceId: '42', config, credentials })
}
