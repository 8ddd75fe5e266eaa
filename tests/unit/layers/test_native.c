/* The preset `native`: where the frames of real C and C++ servers go. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "layers/color.h"
#include "stack.h"

static const struct {
    const char *layer, *stacks[24];
} cases[] = {
    {"kernel", {"writev;tcp_sendmsg_[k]", "entry_SYSCALL_64_after_hwframe_[k]"}},
    {"syscalls",
     {"libc.so!writev",
      "libc.so!__libc_recv",
      "libc.so!__GI___writev",
      "libc.so!__close",
      "libc.so!__GI___fstatat64",
      "libc.so!__GI___libc_open",
      "libc.so!__libc_pread",
      "sendfile",
      "sendfile64",
      "libc.so!epoll_wait",
      "libc.so!__epoll_wait",
      "libc.so!read",
      "libc.so!recv",
      "libc.so!accept4",
      "libc.so!__open64_nocancel",
      "libc.so!__lll_lock_wait_private",
      "libc.so!syscall",
      "libc.so!mmap",
      "libc.so!__munmap",
      "libpthread-2.31.so!write",
      "libc.so!clock_nanosleep",
      "static-server!epoll_wait",
      "libc.so!sched_yield"}},
    {"transport",
     {"nginx!ngx_http_write_filter", "nginx![unknown] nginx", "nginx!ngx_palloc",
      "ngx_http_parse_request_line", "[nginx]", "libnghttp2.so!nghttp2_session_mem_recv",
      "libuv.so!uv_run", "[libnghttp2.so.14]", "app!uv__io_poll", "libevent-2.1.so!event_base_loop",
      "libcurl.so!curl_multi_perform", "app!grpc_core::Chttp2Transport::PerformOp(int)",
      "haproxy!h1_headers_to_hdr_list", "ngx_http_brotli_filter_module.so!x",
      "app!boost::asio::detail::scheduler::run(int)",
      "app!void boost::asio::detail::do_run<int>()"}},
    {"tls",
     {"libssl.so!SSL_write", "libcrypto.so![unknown] libcrypto.so", "[libcrypto.so.3]",
      "libcrypto.so!aesni_ctr32_encrypt_blocks", "app!EVP_EncryptUpdate", "app!bssl::ssl_write"}},
    {"codec",
     {"libz.so!deflate", "[libz.so.1.2.13]", "libz.so![unknown] libz.so", "libz.so!crc32",
      "app!longest_match", "deflate_slow", "inflate_fast", "crc32_z", "app!ZSTD_compressBlock_fast",
      "libbrotlienc.so![unknown] libbrotlienc.so", "libjansson.so!json_loadb", "app!json_dumps",
      "app!google::protobuf::MessageLite::SerializeToString(std::string*) const",
      "app!void google::protobuf::internal::Parse<int>(char const*)", "app!cJSON_Parse",
      "libprotobuf.so!x", "libxml2.so!xmlParseChunk", "app!_tr_flush_block", "app!deflateInit2_"}},
    {"runtime",
     {"deflate;libc.so!memcpy",
      "libc.so!__memmove_avx512_unaligned_erms",
      "libc.so!malloc",
      "_int_malloc",
      "unlink_chunk.constprop.0",
      "cfree",
      "libc.so![unknown] libc.so",
      "libc.so!strlen",
      "__strlen_avx2",
      "libc.so!pthread_mutex_lock",
      "___pthread_mutex_lock",
      "libjemalloc.so!x",
      "app!je_malloc",
      "ld-linux-x86-64.so!_dl_lookup_symbol_x",
      "[vdso]!clock_gettime",
      "app!operator new(unsigned long)",
      "libstdc++.so!operator new(int)",
      "libgcc_s.so!_Unwind_Find_FDE",
      "app!__cxa_allocate_exception",
      "vsnprintf",
      "app!operator delete(void*, unsigned long)"}},
    {"stdlib",
     {"libstdc++.so!std::ostream::write(char const*, long)", "app!std::vector<int>::push_back(int)",
      "app!void std::sort<int*>(int*, int*)", "libm.so!exp", "libpcre2-8.so!pcre2_match_8",
      "app!std::__detail::_Map_base<x>::operator[](int)", "app!std::map<int, my::X>::find(int)",
      "app!unsigned long std::count<my::It<int> >(int)", "app!bool std::operator==<char>(int)",
      "app!std::ostream& std::operator<< <char>(int)"}},
    {"stubs", {"nginx!deflate_[s]", "nginx!memcpy@plt"}},
    {"application",
     {"server!handle_request", "server![unknown] server", "server!ns::Handler::read(int)",
      "server!deflater_pool_get", "server!readiness", "server!open_index", "server!inflater",
      "server!my::Map<int, std::string>::get(int)",
      "server!std::vector<int, std::allocator<int> > my::f<int>(int)",
      "server!my::f(std::string, google::protobuf::Arena*)"}},
    {"other",
     {"libmystery.so!f", "mystery", "[unknown]", "[truncated]_[m]", "[anon]!x", "libzoo.so.!x"}},
};

static void frames_of_real_servers_fall_where_users_expect_them(void **state)
{
    struct fb_layers *layers = NULL;
    struct fb_err err = {0};
    int wrong = 0;

    (void)state;
    if (fb_layers_load("native", &layers, &err) != FB_OK)
        fail_msg("%s", err.text);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        for (const char *const *stack = cases[i].stacks; *stack; stack++) {
            const char *layer = stack_layer(layers, *stack);

            if (strcmp(layer, cases[i].layer) == 0)
                continue;
            print_error("%s: expected %s, got %s\n", *stack, cases[i].layer, layer);
            wrong++;
        }
    }
    assert_int_equal(wrong, 0);
    fb_layers_free(layers);
}

static void every_preset_compiles_and_dark_text_reads_on_its_colours(void **state)
{
    (void)state;
    for (const struct fb_layers_preset *p = fb_layers_presets; p->name; p++) {
        struct fb_layers *layers = NULL;
        struct fb_err err = {0};

        if (fb_layers_load(p->name, &layers, &err) != FB_OK)
            fail_msg("%s", err.text);
        for (size_t i = 0; i < fb_layers_count(layers); i++) {
            const struct fb_layer *layer = fb_layers_get(layers, i);

            assert_true(fb_color_valid(layer->color));
            assert_true(fb_color_contrast(layer->color, "#1b1b1b") >= 4.5);
            assert_true(layer->description[0] != '\0');
            assert_true(layer->has_rollup);
            for (size_t k = 0; k < i; k++)
                assert_string_not_equal(layer->color, fb_layers_get(layers, k)->color);
        }
        fb_layers_free(layers);
    }
}

static void default_colours_carry_dark_text(void **state)
{
    (void)state;
    for (size_t i = 0; i < 40; i++) {
        assert_true(fb_color_contrast(fb_color_default("no such layer", i), "#1b1b1b") >= 4.5);
        assert_string_not_equal(fb_color_default("no such layer", i),
                                fb_color_default("no such layer", i + 1));
    }
}

static void contrast_is_that_of_wcag(void **state)
{
    (void)state;
    assert_float_equal(fb_color_contrast("#000000", "#ffffff"), 21.0, 1e-6);
    assert_float_equal(fb_color_contrast("#777777", "#ffffff"), 4.48, 0.005);
    assert_float_equal(fb_color_contrast("#FFFFFF", "#777777"), 4.48, 0.005);
    assert_false(fb_color_valid("#12345"));
    assert_false(fb_color_valid("#12345g"));
    assert_false(fb_color_valid("#1234567"));
    assert_false(fb_color_valid("1234567"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(frames_of_real_servers_fall_where_users_expect_them),
        cmocka_unit_test(every_preset_compiles_and_dark_text_reads_on_its_colours),
        cmocka_unit_test(default_colours_carry_dark_text),
        cmocka_unit_test(contrast_is_that_of_wcag),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
