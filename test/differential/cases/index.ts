/** The corpus. */
import type { CaseGroup } from '../case.ts'
import { accessCases } from './access.ts'
import { applyCases } from './apply.ts'
import { changeCases } from './changes.ts'
import { changingDefinitionCases } from './changing-definitions.ts'
import { createCases } from './create.ts'
import { credentialCases } from './credentials.ts'
import { customResourceCases } from './custom-resources.ts'
import { definitionStatusCases } from './definition-status.ts'
import { deleteCases } from './delete.ts'
import { discoveryCases } from './discovery.ts'
import { errorCases } from './errors.ts'
import { networkWarningCases } from './warnings-of-networks.ts'
import { podWarningCases } from './warnings-of-pods.ts'
import { operatorCases } from './operators.ts'
import { patchCases } from './patch.ts'
import { quotaCases } from './quotas.ts'
import { readCases } from './read.ts'
import { subresourceCases } from './subresources.ts'
import { deleteOptionCases } from './delete-options.ts'
import { podCases } from './pods-and-services.ts'
import { runtimeClassCases } from './runtime-classes.ts'
import { refusedCoreKindCases } from './refused-core-kinds.ts'
import { refusedKindCases } from './refused-kinds.ts'
import { schemaCases } from './schemas.ts'
import { oddCases } from './odd-requests.ts'
import { updateCases } from './update.ts'
import { warningCases } from './warnings.ts'
import { watchCases } from './watch.ts'
import { yamlResponseCases } from './yaml-responses.ts'
import { yamlTextCases } from './yaml-texts.ts'
import { yamlCases } from './yaml.ts'

export const CORPUS: readonly CaseGroup[] = [
  createCases,
  updateCases,
  changeCases,
  patchCases,
  applyCases,
  customResourceCases,
  definitionStatusCases,
  changingDefinitionCases,
  readCases,
  watchCases,
  deleteCases,
  subresourceCases,
  discoveryCases,
  errorCases,
  operatorCases,
  accessCases,
  credentialCases,
  quotaCases,
  deleteOptionCases,
  oddCases,
  schemaCases,
  podCases,
  runtimeClassCases,
  refusedCoreKindCases,
  refusedKindCases,
  warningCases,
  podWarningCases,
  networkWarningCases,
  yamlCases,
  yamlTextCases,
  yamlResponseCases,
]
