package oif;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Locale;

/**
 * Loads the native library from the jar.
 *
 * <p>The JVM refuses to load the same file in two class loaders, and every Flink job has its own class
 * loader. So each class loader gets a private copy, which is deleted once it is loaded.
 */
final class NativeLibrary {
    /** The system property that names a library to load instead of the one in the jar. */
    static final String PATH_PROPERTY = "oif.library";

    /** The system property that names the folder for the copy. It must not be mounted noexec. */
    static final String FOLDER_PROPERTY = "oif.tmpdir";

    private NativeLibrary() {}

    static void load() {
        String path = System.getProperty(PATH_PROPERTY);
        if (path != null) {
            System.load(Path.of(path).toAbsolutePath().toString());
            return;
        }
        String resource = "native/" + platform() + "/liboifjni.so";
        try (InputStream library = NativeLibrary.class.getResourceAsStream(resource)) {
            if (library == null) {
                throw new UnsatisfiedLinkError(
                        "oif has no native library for " + platform() + "; build one and set -D" + PATH_PROPERTY + "=FILE");
            }
            loadCopy(library);
        } catch (IOException e) {
            throw new UnsatisfiedLinkError("cannot copy the native library of oif: " + e + "; choose another folder with -D"
                    + FOLDER_PROPERTY + "=FOLDER");
        }
    }

    private static void loadCopy(InputStream library) throws IOException {
        Path folder = Path.of(System.getProperty(FOLDER_PROPERTY, System.getProperty("java.io.tmpdir")));
        Path copy = Files.createTempFile(folder, "oif", ".so");
        try {
            Files.copy(library, copy, StandardCopyOption.REPLACE_EXISTING);
            System.load(copy.toAbsolutePath().toString());
        } catch (UnsatisfiedLinkError e) {
            UnsatisfiedLinkError error = new UnsatisfiedLinkError(
                    e.getMessage() + "; if " + folder + " is mounted noexec, choose another folder with -D" + FOLDER_PROPERTY + "=FOLDER");
            error.initCause(e);
            throw error;
        } finally {
            Files.deleteIfExists(copy);
        }
    }

    /** Such as "linux-x86_64". */
    static String platform() {
        String machine = System.getProperty("os.arch").toLowerCase(Locale.ROOT);
        if (machine.equals("amd64")) {
            machine = "x86_64";
        }
        return System.getProperty("os.name").toLowerCase(Locale.ROOT) + "-" + machine;
    }
}
