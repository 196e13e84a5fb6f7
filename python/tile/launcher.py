"""Loading an artifact and launching its kernels.

A launch checks every argument against the manifest. The result of checking
extents, strides, types and devices is kept, so that a launch with layouts seen
before only reads the addresses, patches the parameters and calls the driver.
"""

from __future__ import annotations

import os
import threading
from typing import Any, Dict, List, Mapping, Optional, Sequence, Tuple, Union

from . import cubins
from . import driver as _driver
from . import manifest as _manifest
from . import tensors
from .arguments import label, read_scalar
from .errors import ArgumentError, ManifestError
from .launches import PreparedLaunch
from .manifest import Scalar
from .scratch import Scratch, scratch_buffers
from .tensors import Layout

#: Dynamic shared memory that a kernel may use without asking for more.
_DEFAULT_SHARED_BYTES = 48 * 1024

#: Prepared launches kept per kernel; with more distinct layouts it starts over.
_MAX_PREPARED = 4096


class _Launcher:
    """Launches some kernels of a module in their order."""

    def __init__(self, module: "Module", specs: Sequence[_manifest.Kernel]):
        self._module = module
        self._specs = tuple(specs)
        #: For each name, the parameters that take its argument, and the first
        #: kernel and position that it appears at.
        params: Dict[str, list] = {}
        for spec in specs:
            for position, param in enumerate(spec.params):
                same = params.setdefault(param.name, [spec, position])
                if param not in same[2:]:
                    same.append(param)
        self.names = tuple(params)
        self._readers = []
        sizing = {
            spec.params[position].name
            for spec in specs
            for position in spec.launch_scalars
        }
        for name, (spec, position, *same) in params.items():
            if isinstance(same[0], Scalar):
                alignment = 0
            else:
                alignment = max(getattr(param, "alignment", 1) for param in same)
            self._readers.append(
                (label(spec, position), same, alignment, name in sizing)
            )
        self._prepared: Dict[tuple, PreparedLaunch] = {}

    def __call__(self, args: tuple, named: Dict[str, Any], stream: Any) -> None:
        if named or len(args) != len(self.names):
            args = _bind(self._specs[0].name, self.names, args, named)
        values: List[Any] = []
        key: List[Any] = []
        pointer_device = self._module.pointer_device
        for (where, params, alignment, sizes), value in zip(self._readers, args):
            try:
                if not alignment:
                    number = read_scalar(params[0], value)
                    for param in params[1:]:
                        read_scalar(param, value)
                    values.append(number)
                    if sizes:
                        key.append(number)
                    continue
                pointer, layout = tensors.describe(value, pointer_device)
                if pointer % alignment and 0 not in layout[1]:
                    raise ArgumentError(
                        f"address {pointer:#x} must be aligned to {alignment} bytes"
                    )
            except ArgumentError as error:
                raise ArgumentError(where + str(error)) from None
            values.append(pointer)
            key.append(layout)
        plan_key = tuple(key)
        prepared = self._prepared.get(plan_key)
        if prepared is None:
            prepared = self._prepare(plan_key, values)
        if stream is not None:
            handle = tensors.stream_handle(stream)
        else:
            handle = tensors.current_stream(args, prepared.device)
        prepared.launch(values, handle)

    def _prepare(self, key: tuple, values: Sequence[Any]) -> PreparedLaunch:
        remaining = iter(key)
        arguments: Dict[str, Any] = {}
        for name, (_, _, alignment, sizes) in zip(self.names, self._readers):
            if alignment:
                arguments[name] = Layout(*next(remaining))
            else:
                arguments[name] = next(remaining) if sizes else 0
        prepared = PreparedLaunch(self._module, self._specs, self.names, arguments)
        if len(self._prepared) >= _MAX_PREPARED:
            self._prepared.clear()
        self._prepared[key] = prepared
        return prepared


class Kernel:
    """One kernel of a module; calling it checks, then launches."""

    def __init__(self, module: "Module", spec: _manifest.Kernel):
        self.spec = spec
        self._module = module
        self._launcher = _Launcher(module, (spec,))

    @property
    def name(self) -> str:
        return self.spec.name

    def __call__(self, *args: Any, stream: Any = None, **named: Any) -> None:
        """Launches this kernel alone; arguments in order or by name."""
        self._launcher(args, named, stream)

    def count_resident(self, device: Optional[int] = None) -> int:
        """Returns how many programs of the grid run at a time on a GPU.

        A program runs on a block, or on a cluster of blocks. A kernel whose
        programs share the work in a loop is fastest with as many of them.
        """
        return self._module.count_resident(self.spec, device)


class Module:
    """The kernels of one artifact.

    The artifact is loaded into a device's context at the first launch there,
    so a module serves several devices, and arguments are checked where there
    is no device at all. Safe to use from several threads.

    With `cubins`, a folder, the driver's compilation of PTX is kept there.
    """

    def __init__(
        self,
        image: bytes,
        manifest: Union[str, bytes, dict, _manifest.Manifest],
        driver: Optional[_driver.Driver] = None,
        cubins: Union[str, "os.PathLike[str]", None] = None,
    ):
        if not isinstance(manifest, _manifest.Manifest):
            manifest = _manifest.parse(manifest)
        if manifest.kind not in ("ptx", "cubin"):
            raise ManifestError(
                f"the CUDA driver loads ptx and cubin, not '{manifest.kind}'"
            )
        self.manifest = manifest
        self.kernels = {spec.name: Kernel(self, spec) for spec in manifest.kernels}
        self._launcher = _Launcher(self, manifest.kernels)
        #: The names of all kernels' parameters, in order of first appearance.
        self.parameters: Tuple[str, ...] = self._launcher.names
        self._image = image
        self._driver = driver
        self._cubins = cubins if manifest.kind == "ptx" else None
        self._lock = threading.Lock()
        self._logs: List[str] = []
        # Per context: the module and its functions by kernel name.
        self._loaded: Dict[int, Tuple[int, Dict[str, int]]] = {}
        # Per (current context, device): the context to launch in.
        self._contexts: Dict[Tuple[int, Optional[int]], int] = {}

    def __getitem__(self, name: str) -> Kernel:
        try:
            return self.kernels[name]
        except KeyError:
            raise KeyError(
                f"no kernel '{name}', there are: {', '.join(self.kernels)}"
            ) from None

    def launch(self, *args: Any, stream: Any = None, **named: Any) -> None:
        """Launches all kernels in the manifest's order on one stream.

        The arguments are `self.parameters`, in that order or by name; kernels
        that name the same parameter share its argument. Nothing is launched
        unless every kernel accepts its arguments. `stream` is a handle or a
        stream object; without one it is PyTorch's current stream for PyTorch
        tensors, else the stream that a tensor's interface names, else the
        default stream.
        """
        self._launcher(args, named, stream)

    __call__ = launch

    def prepare(
        self,
        names: Sequence[str],
        arguments: Dict[str, Union[Layout, int]],
        follows: bool = False,
    ) -> PreparedLaunch:
        """Checks the layouts of all arguments; returns a launch for them.

        `arguments` holds the layout of each tensor and the value of each
        scalar that sizes depend on (any number for the others). The launch
        takes addresses and numbers in the order of `names`, which may hold
        names that the kernels do not have. It trusts these values: addresses
        must be aligned as the manifest says. With `follows`, each launch comes
        directly behind another one of tile's kernels in its stream.
        """
        return PreparedLaunch(self, self.manifest.kernels, names, arguments, follows)

    def scratch(
        self,
        shapes: Mapping[str, Tuple[int, ...]],
        scalars: Optional[Mapping[str, int]] = None,
    ) -> Dict[str, Scratch]:
        """Returns type and smallest shape of each buffer that `shapes` lacks.

        `shapes` holds the shapes of all arguments that are not scratch.
        """
        return scratch_buffers(self.manifest, shapes, scalars)

    @property
    def log(self) -> str:
        """The report of the driver's JIT compiler, if the module is loaded."""
        return "\n".join(self._logs)

    def load(self, device: int = 0) -> None:
        """Loads the artifact for a device now rather than at first launch."""
        driver, context, entered = self.enter(device)
        try:
            self.functions(driver, context)
        finally:
            if entered:
                driver.pop_context()

    def close(self) -> None:
        """Unloads the artifact everywhere; a later launch loads it again.

        No launch of it may still be running.
        """
        with self._lock:
            driver = self._get_driver() if self._loaded else None
            while self._loaded:
                context, (module, _) = self._loaded.popitem()
                driver.push_context(context)
                try:
                    driver.unload_module(module)
                finally:
                    driver.pop_context()

    def multiprocessors(self, device: Optional[int]) -> int:
        """Returns the number of a device, or of the chip without a device."""
        if device is None:
            return self.manifest.multiprocessors
        return (self._driver or self._get_driver()).multiprocessors(device)

    def enter(self, device: Optional[int]) -> Tuple[_driver.Driver, int, bool]:
        """Makes a context of the device current.

        That is the thread's context if it belongs to the device, else the
        device's primary context. Returns the driver, the context, and whether
        the caller must pop the context.
        """
        driver = self._driver or self._get_driver()
        current = driver.current_context()
        context = self._contexts.get((current, device))
        if context is None:
            context = self._choose_context(driver, current, device)
            self._contexts[(current, device)] = context
        if context == current:
            return driver, context, False
        driver.push_context(context)
        return driver, context, True

    @staticmethod
    def _choose_context(
        driver: _driver.Driver, current: int, device: Optional[int]
    ) -> int:
        if current and (device is None or driver.current_device() == device):
            return current
        return driver.primary_context(device or 0)

    def functions(self, driver: _driver.Driver, context: int) -> Dict[str, int]:
        """Returns the functions in `context`, which is current; loads them once."""
        loaded = self._loaded.get(context)
        if loaded is not None:
            return loaded[1]
        with self._lock:
            if context not in self._loaded:
                device = driver.current_device()
                module, log = cubins.load(driver, self._image, device, self._cubins)
                functions = {}
                for spec in self.manifest.kernels:
                    function = driver.get_function(module, spec.name)
                    if spec.shared_bytes > _DEFAULT_SHARED_BYTES:
                        driver.allow_shared_memory(function, spec.shared_bytes, device)
                    functions[spec.name] = function
                if log:
                    self._logs.append(log)
                self._loaded[context] = (module, functions)
            return self._loaded[context][1]

    def count_resident(self, spec: _manifest.Kernel, device: Optional[int]) -> int:
        """Returns how many programs of a kernel run at a time on a device."""
        driver, context, must_pop = self.enter(device)
        try:
            function = self.functions(driver, context)[spec.name]
            return driver.count_resident(
                function, spec.block, spec.shared_bytes, driver.current_device()
            )
        finally:
            if must_pop:
                driver.pop_context()

    def pointer_device(self, pointer: int) -> Optional[int]:
        return self._get_driver().pointer_device(pointer)

    def _get_driver(self) -> _driver.Driver:
        if self._driver is None:
            self._driver = _driver.shared()
        return self._driver


def load(
    artifact_path: Union[str, "os.PathLike[str]"],
    manifest_path: Union[str, "os.PathLike[str]", None] = None,
    driver: Optional[_driver.Driver] = None,
    cubins: Union[str, "os.PathLike[str]", None] = None,
) -> Module:
    """Loads an artifact (PTX or cubin) and its manifest.

    Without `manifest_path` the manifest is the file beside the artifact with
    the suffix .json. Raises OSError and ManifestError; errors in the artifact
    itself show at the first launch or at `Module.load`. `cubins` is as for
    `Module`.
    """
    if manifest_path is None:
        manifest_path = os.path.splitext(os.fspath(artifact_path))[0] + ".json"
    with open(artifact_path, "rb") as file:
        image = file.read()
    with open(manifest_path, "rb") as file:
        return Module(image, file.read(), driver, cubins)


def _bind(
    name: str, names: Tuple[str, ...], args: tuple, named: Dict[str, Any]
) -> tuple:
    """Merges positional and named arguments into one tuple."""
    bound = dict(zip(names, args))
    for key, value in named.items():
        if key not in names:
            raise ArgumentError(
                f"{name}: no argument '{key}', there are: {', '.join(names)}"
            )
        if key in bound:
            raise ArgumentError(f"{name}: argument '{key}' is given twice")
        bound[key] = value
    if len(args) > len(names) or len(bound) < len(names):
        raise ArgumentError(
            f"{name}: expected {len(names)} arguments ({', '.join(names)}),"
            f" got {len(args) + len(named)}"
        )
    return tuple(bound[key] for key in names)
