"""A ZIP container of XML parts, read with bounds: member count, unpacked size and nesting are limited, entities are not resolved."""

import io
import posixpath
import zipfile
import zlib

from deepdelve.tools.web.documents.extracted import encrypted, unreadable
from deepdelve.tools.web.documents.trees import Element, xml_tree

# Bytes unpacked from one container in all, and from one part: documents within it are far smaller, bombs far larger.
TOTAL_LIMIT = 200_000_000
PART_LIMIT = 40_000_000
_MEMBER_LIMIT = 20_000
_CHUNK = 1 << 20
_RELATION = "{http://schemas.openxmlformats.org/package/2006/relationships}Relationship"


class Package:
    """An open container.

    Raises:
        FetchError: ``unreadable`` for damage and bombs, ``encrypted`` for parts with a password.
    """

    def __init__(self, data: bytes) -> None:
        try:
            self._zip = zipfile.ZipFile(io.BytesIO(data))
            self.names = frozenset(self._zip.namelist())
        except (zipfile.BadZipFile, OSError, ValueError, EOFError, NotImplementedError, UnicodeError) as error:
            raise unreadable("The file is cut short or damaged: its ZIP directory is missing.", "Look for another copy.") from error
        if len(self.names) > _MEMBER_LIMIT:
            raise unreadable(f"The file packs {len(self.names):,} parts, more than any document needs.")
        self._left = TOTAL_LIMIT

    def read(self, name: str) -> bytes:
        """One part, unpacked within the limits."""
        parts: list[bytes] = []
        size = 0
        try:
            with self._zip.open(name) as member:
                while chunk := member.read(_CHUNK):
                    size += len(chunk)
                    if size > PART_LIMIT or size > self._left:
                        raise unreadable("The file unpacks to far more than a document holds and was not read.")
                    parts.append(chunk)
        except RuntimeError as error:
            if "password" in str(error) or "encrypted" in str(error):
                raise encrypted("The file is encrypted and opens only with a password.") from error
            raise unreadable(f"The part {name!r} of the file is damaged.", "Look for another copy.") from error
        except (zipfile.BadZipFile, zlib.error, OSError, ValueError, KeyError, EOFError, NotImplementedError) as error:
            raise unreadable(f"The part {name!r} of the file is damaged.", "Look for another copy.") from error
        self._left -= size
        return b"".join(parts)

    def xml(self, name: str) -> Element:
        """The root element of one part."""
        return parse_xml(self.read(name), name)

    def optional_xml(self, name: str) -> Element | None:
        """The root element of a part that may be missing."""
        return self.xml(name) if name in self.names else None

    def relations(self, part: str) -> dict[str, str]:
        """Targets of a part's relations by id: full part names, or addresses if external."""
        folder, name = posixpath.split(part)
        root = self.optional_xml(posixpath.join(folder, "_rels", f"{name}.rels"))
        targets: dict[str, str] = {}
        for relation in root.iter(_RELATION) if root is not None else ():
            target = relation.get("Target") or ""
            if relation.get("TargetMode") != "External":
                target = target.lstrip("/") if target.startswith("/") else posixpath.normpath(posixpath.join(folder, target))
            targets[relation.get("Id") or ""] = target
        return targets


def parse_xml(data: bytes, name: str = "document") -> Element:
    """Parse XML within the bounds of ``trees.xml_tree``.

    Raises:
        FetchError: ``unreadable``.
    """
    root = xml_tree(data)
    if root is None:
        raise unreadable(f"The part {name!r} of the file is damaged XML.", "Look for another copy.")
    return root
