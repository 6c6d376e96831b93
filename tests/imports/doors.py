"""A contract of import-linter: a package is entered through its `__init__` only."""

from typing import Any

from importlinter import Contract, ContractCheck, fields, output


class Doors(Contract):
    """No import from outside a package names a module inside it, unless the module is listed as open."""

    open_modules = fields.SetField(subfield=fields.StringField(), required=False)

    def check(self, graph: Any, verbose: bool) -> ContractCheck:
        (root,) = self.session_options["root_packages"]
        packages = {module for module in graph.modules if module.count(".") == 1 and graph.find_children(module)}
        opened = self.open_modules or set()  # type: ignore[has-type]
        found = []
        for package in sorted(packages - {f"{root}.cli"}):
            for module in sorted(graph.find_descendants(package) - opened):
                outside = graph.find_modules_that_directly_import(module)
                found += [(o, module) for o in sorted(outside) if not (o + ".").startswith(package + ".")]
        return ContractCheck(kept=not found, metadata={"found": found})

    def render_broken_contract(self, check: ContractCheck) -> None:
        for importer, module in check.metadata["found"]:
            output.print_error(f"{importer} imports {module}; import from {'.'.join(module.split('.')[:2])} instead")
